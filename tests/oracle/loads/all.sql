-- SPDX-License-Identifier: MIT
CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, s TEXT, r REAL, b BLOB);
CREATE INDEX tn ON t (n, s); CREATE TABLE log (what TEXT);
CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (old.s || new.s); END;
CREATE VIEW v AS SELECT n, count(*) c, avg(r) a FROM t GROUP BY n HAVING c > 1;
WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000)
INSERT INTO t SELECT i, i * 7919 % 97, printf('%05d-%x', i * 31 % 1000, i), i / 3.0, zeroblob(i % 50) FROM k;
UPDATE t SET s = upper(s) || n WHERE n BETWEEN 10 AND 20; DELETE FROM t WHERE id % 17 = 0;
SELECT * FROM v ORDER BY a DESC LIMIT 5; SELECT s, n FROM t WHERE s LIKE '%12%' OR s GLOB '0*9' ORDER BY s COLLATE NOCASE LIMIT 3;
SELECT n, sum(r) OVER (PARTITION BY n ORDER BY id ROWS 3 PRECEDING), rank() OVER w, lag(s) OVER w FROM t WINDOW w AS (ORDER BY n) LIMIT 5;
SELECT a.id, b.id FROM t a JOIN t b ON a.n = b.n AND a.id < b.id LEFT JOIN log ON what = a.s LIMIT 5;
SELECT group_concat(DISTINCT n), total(r), max(s), min(b) FROM t; SELECT hex(randomblob(4)) IS NOT NULL, quote(b), typeof(r), coalesce(NULL, 5), CASE n WHEN 1 THEN 'x' ELSE 'y' END FROM t LIMIT 2;
SELECT json_extract('{"a":[1,2,{"b":"c"}]}', '$.a[2].b'), json_group_array(n) FROM (SELECT n FROM t LIMIT 5); SELECT value FROM json_each('[1,"x",null,2.5]');
SELECT strftime('%Y-%j', '2024-02-29', '+1 year'), julianday('2000-01-01'), round(2.567, 2), abs(-5), substr('hello', 2, 3), replace('aXa', 'X', 'b'), instr('abc', 'c'), 7 % 3, 5 << 2, ~1, 9223372036854775807 + 1;
SELECT n FROM t EXCEPT SELECT n FROM t WHERE n > 5 UNION SELECT 99 INTERSECT SELECT 99; CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f SELECT s FROM t; SELECT count(*) FROM f WHERE f MATCH 'a* OR 012*';
CREATE VIRTUAL TABLE rt USING rtree(id, x0, x1); INSERT INTO rt SELECT id, r, r + 1 FROM t; SELECT count(*) FROM rt WHERE x0 > 50 AND x1 < 60;
BEGIN; UPDATE t SET n = n + 1; SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; COMMIT; ANALYZE; VACUUM; PRAGMA integrity_check; EXPLAIN QUERY PLAN SELECT * FROM t WHERE n = 5;
INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET r = 0 RETURNING id; ALTER TABLE t ADD COLUMN g AS (n * 2); SELECT g FROM t LIMIT 1; REINDEX; DROP TABLE log;
