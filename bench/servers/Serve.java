// SPDX-License-Identifier: MIT
// Serve: a server of HTTP by Java's own library; each answer leaves some garbage.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;

public class Serve {
	static byte[] answer() {
		Map<String, Integer> map = new HashMap<>();
		long sum = 0;

		for (int i = 0; i < 200; i++)
			map.put("key" + i, i);
		for (int v : map.values())
			sum += v;
		return ("sum " + sum + " answer\n").getBytes();
	}

	public static void main(String[] args) throws Exception {
		InetSocketAddress at = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
		HttpServer server = HttpServer.create(at, 0);

		server.setExecutor(Executors.newFixedThreadPool(4));
		server.createContext("/", exchange -> {
			byte[] body = answer();

			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.start();
	}
}
