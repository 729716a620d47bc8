// SPDX-License-Identifier: MIT
// Load: threads that allocate, throw, lock, and come and go, with a heap so small
// that it is always being collected. Each round has a result that is known; what is
// wrong is said. Ends at the end of standard input.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

public class Load {
	static final AtomicLong rounds = new AtomicLong();
	static volatile boolean ends;

	static void wrong(String what) {
		System.out.println("WRONG " + what);
	}

	// Strings by the thousand, in a map that is thrown away.
	static void collect(int n) {
		Map<String, Integer> map = new HashMap<>();
		long sum = 0;

		for (int i = 0; i < n; i++)
			map.put("key" + i, i);
		for (int v : map.values())
			sum += v;
		if (sum != (long) n * (n - 1) / 2)
			wrong("sum " + sum);
	}

	// The machine finds out by a fault.
	static void fault(Object[] nothing) {
		try {
			nothing[0].hashCode();
			wrong("no exception");
		} catch (NullPointerException e) {
			if (e.getStackTrace().length == 0)
				wrong("no stack");
		}
	}

	static int depth(int n) {
		return n == 0 ? 0 : 1 + depth(n - 1);
	}

	static void deep() {
		try {
			depth(1 << 30);
			wrong("no end of the stack");
		} catch (StackOverflowError e) {
			if (depth(500) != 500)
				wrong("depth");
		}
	}

	static void round() {
		collect(2000);
		fault(rounds.get() % 2 == 0 ? null : new Object[1]);
		rounds.incrementAndGet();
	}

	static void work() {
		while (!ends)
			round();
	}

	static void bear() {
		while (!ends) {
			Thread child = new Thread(Load::round);

			child.start();
			try {
				child.join();
			} catch (InterruptedException e) {
				wrong("interrupted");
			}
			deep();
		}
	}

	public static void main(String[] args) throws Exception {
		ArrayList<Thread> threads = new ArrayList<>();

		for (int i = 0; i < 3; i++)
			threads.add(new Thread(Load::work));
		threads.add(new Thread(Load::bear));
		for (Thread t : threads)
			t.start();
		System.out.println("ready");
		while (true) {
			int c = System.in.read();

			if (c < 0)
				break;
			if (c == '\n')
				System.out.println("alive " + rounds.get() + " 0");
		}
		ends = true;
		for (Thread t : threads)
			t.join();
		System.out.println("bye");
	}
}
