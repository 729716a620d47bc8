/* SPDX-License-Identifier: MIT */
/* known_others: TLS, compression, clients of databases. No secret is read: of a key, a password,
 * and what is to be encrypted there is the address only. */
#include <stddef.h>

#include "values/known.h"

const char *const known_ssl[] = {
	"SSL_new(ctx:ptr, ret:ptr)",
	"SSL_free(ssl:ptr)",
	"SSL_set_fd(ssl:ptr, fd:int, ret:int)",
	"SSL_connect(ssl:ptr, ret:int)",
	"SSL_accept(ssl:ptr, ret:int)",
	"SSL_do_handshake(ssl:ptr, ret:int)",
	"SSL_read(ssl:ptr, buf:out(ret), n:int, ret:int)",
	"SSL_peek(ssl:ptr, buf:out(ret), n:int, ret:int)",
	"SSL_write(ssl:ptr, buf:buf(n), n:int, ret:int)",
	"SSL_read_ex(ssl:ptr, buf:out(*got), n:u64, got:ptr, ret:int)",
	"SSL_write_ex(ssl:ptr, buf:buf(n), n:u64, done:ptr, ret:int)",
	"SSL_shutdown(ssl:ptr, ret:int)",
	"SSL_pending(ssl:ptr, ret:int)",
	"SSL_get_error(ssl:ptr, result:int, ret:int)",
	"SSL_CTX_new(method:ptr, ret:ptr)",
	"SSL_CTX_free(ctx:ptr)",
	"SSL_CTX_use_certificate_chain_file(ctx:ptr, path:str, ret:int)",
	"SSL_CTX_use_PrivateKey_file(ctx:ptr, path:str, type:int, ret:int)",
	"SSL_get_version(ssl:ptr, ret:str)",
	"EVP_DigestUpdate(ctx:ptr, data:ptr, n:u64, ret:int)",
	"EVP_EncryptUpdate(ctx:ptr, to:ptr, done:ptr, from:ptr, n:int, ret:int)",
	"EVP_DecryptUpdate(ctx:ptr, to:ptr, done:ptr, from:ptr, n:int, ret:int)",
	"BIO_read(bio:ptr, buf:ptr, n:int, ret:int)",
	"BIO_write(bio:ptr, buf:ptr, n:int, ret:int)",
	"ERR_get_error(ret:x64)",
	NULL
};

const char *const known_zlib[] = {
	"deflateInit_(stream:ptr, level:int, version:str, size:int, ret:int)",
	"deflateInit2_(stream:ptr, level:int, method:int, bits:int, memory:int, "
		"strategy:int, version:str, size:int, ret:int)",
	"deflate(stream:ptr, flush:int, ret:int)",
	"deflateEnd(stream:ptr, ret:int)",
	"inflateInit_(stream:ptr, version:str, size:int, ret:int)",
	"inflateInit2_(stream:ptr, bits:int, version:str, size:int, ret:int)",
	"inflate(stream:ptr, flush:int, ret:int)",
	"inflateEnd(stream:ptr, ret:int)",
	"compress(to:ptr, size:ptr, from:ptr, n:ulong, ret:int)",
	"compress2(to:ptr, size:ptr, from:ptr, n:ulong, level:int, ret:int)",
	"uncompress(to:ptr, size:ptr, from:ptr, n:ulong, ret:int)",
	"crc32(crc:x64, buf:ptr, n:uint, ret:x64)",
	"adler32(adler:x64, buf:ptr, n:uint, ret:x64)",
	"gzopen(path:str, mode:str, ret:ptr)",
	"gzread(file:ptr, buf:ptr, n:uint, ret:int)",
	"gzwrite(file:ptr, buf:ptr, n:uint, ret:int)",
	"gzclose(file:ptr, ret:int)",
	NULL
};

const char *const known_databases[] = {
	"PQconnectdb(info:str, ret:ptr)",
	"PQconnectStart(info:str, ret:ptr)",
	"PQfinish(conn:ptr)",
	"PQexec(conn:ptr, query:str, ret:ptr)",
	"PQexecParams(conn:ptr, query:str, n:int, types:ptr, values:ptr, lengths:ptr, "
		"formats:ptr, format:int, ret:ptr)",
	"PQprepare(conn:ptr, name:str, query:str, n:int, types:ptr, ret:ptr)",
	"PQexecPrepared(conn:ptr, name:str, n:int, values:ptr, lengths:ptr, formats:ptr, "
		"format:int, ret:ptr)",
	"PQsendQuery(conn:ptr, query:str, ret:int)",
	"PQsendQueryParams(conn:ptr, query:str, n:int, types:ptr, values:ptr, "
		"lengths:ptr, formats:ptr, format:int, ret:int)",
	"PQsendQueryPrepared(conn:ptr, name:str, n:int, values:ptr, lengths:ptr, "
		"formats:ptr, format:int, ret:int)",
	"PQgetResult(conn:ptr, ret:ptr)",
	"PQresultStatus(result:ptr, ret:int)",
	"PQntuples(result:ptr, ret:int)",
	"PQgetvalue(result:ptr, row:int, column:int, ret:str)",
	"PQclear(result:ptr)",
	"PQerrorMessage(conn:ptr, ret:str)",
	"mysql_real_connect(mysql:ptr, host:str, user:str, password:ptr, db:str, "
		"port:uint, socket:str, flags:x64, ret:ptr)",
	"mysql_query(mysql:ptr, query:str, ret:int)",
	"mysql_real_query(mysql:ptr, query:str(n), n:ulong, ret:int)",
	"mysql_store_result(mysql:ptr, ret:ptr)",
	"mysql_use_result(mysql:ptr, ret:ptr)",
	"mysql_fetch_row(result:ptr, ret:ptr)",
	"mysql_free_result(result:ptr)",
	"mysql_error(mysql:ptr, ret:str)",
	"mysql_close(mysql:ptr)",
	"mysql_stmt_prepare(stmt:ptr, query:str(n), n:ulong, ret:int)",
	"mysql_stmt_execute(stmt:ptr, ret:int)",
	"sqlite3_open(path:str, db:ptr, ret:int)",
	"sqlite3_open_v2(path:str, db:ptr, flags:x32, vfs:str, ret:int)",
	"sqlite3_close(db:ptr, ret:int)",
	"sqlite3_close_v2(db:ptr, ret:int)",
	"sqlite3_exec(db:ptr, sql:str, callback:ptr, arg:ptr, error:ptr, ret:int)",
	"sqlite3_prepare(db:ptr, sql:str, n:int, stmt:ptr, tail:ptr, ret:int)",
	"sqlite3_prepare_v2(db:ptr, sql:str, n:int, stmt:ptr, tail:ptr, ret:int)",
	"sqlite3_prepare_v3(db:ptr, sql:str, n:int, flags:x32, stmt:ptr, tail:ptr, ret:int)",
	"sqlite3_step(stmt:ptr, ret:int)",
	"sqlite3_reset(stmt:ptr, ret:int)",
	"sqlite3_finalize(stmt:ptr, ret:int)",
	"sqlite3_bind_int(stmt:ptr, i:int, value:int, ret:int)",
	"sqlite3_bind_int64(stmt:ptr, i:int, value:i64, ret:int)",
	"sqlite3_bind_double(stmt:ptr, i:int, value:f64, ret:int)",
	"sqlite3_bind_text(stmt:ptr, i:int, text:ptr, n:int, free:ptr, ret:int)",
	"sqlite3_column_text(stmt:ptr, i:int, ret:str)",
	"sqlite3_column_int(stmt:ptr, i:int, ret:int)",
	"sqlite3_column_int64(stmt:ptr, i:int, ret:i64)",
	"sqlite3_column_double(stmt:ptr, i:int, ret:f64)",
	"sqlite3_errmsg(db:ptr, ret:str)",
	NULL
};
