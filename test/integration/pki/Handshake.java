import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * Shakes hands with Kafka's own TLS, in memory. Each four arguments are a handshake: key store and trust store of the server, then of
 * the client, in PEM. Prints a line for each: who each side is to the other, or why not.
 */
public class Handshake {
    public static void main(String[] args) {
        for (int at = 0; at < args.length; at += 4) {
            try {
                SSLEngine server = factory(args[at], args[at + 1]).createServerSslEngine("broker", 9091);
                SSLEngine client = factory(args[at + 2], args[at + 3]).createClientSslEngine("a.b", 9091, "https");
                shake(client, server);
                System.out.println(client.getSession().getPeerPrincipal().getName() + " " + server.getSession().getPeerPrincipal().getName());
            } catch (Exception problem) {
                Throwable cause = problem;
                while (cause.getCause() != null) cause = cause.getCause();
                System.out.println("refused: " + cause.getMessage());
            }
        }
    }

    static DefaultSslEngineFactory factory(String keyStore, String trustStore) {
        Map<String, Object> config = new HashMap<>();
        config.put("ssl.protocol", "TLSv1.3");
        config.put("ssl.enabled.protocols", List.of("TLSv1.3"));
        config.put("ssl.cipher.suites", List.of());
        config.put("ssl.client.auth", "required");
        config.put("ssl.keymanager.algorithm", "SunX509");
        config.put("ssl.trustmanager.algorithm", "PKIX");
        config.put("ssl.keystore.type", "PEM");
        config.put("ssl.keystore.location", keyStore);
        config.put("ssl.truststore.type", "PEM");
        config.put("ssl.truststore.location", trustStore);
        DefaultSslEngineFactory factory = new DefaultSslEngineFactory();
        factory.configure(config);
        return factory;
    }

    static void shake(SSLEngine client, SSLEngine server) throws Exception {
        ByteBuffer toServer = ByteBuffer.allocate(1 << 17), toClient = ByteBuffer.allocate(1 << 17);
        client.beginHandshake();
        server.beginHandshake();
        for (int round = 0; round < 100; round++) {
            step(client, toServer, toClient);
            step(server, toClient, toServer);
        }
        if (isBusy(client) || isBusy(server)) throw new IllegalStateException("the handshake does not end");
    }

    static boolean isBusy(SSLEngine engine) {
        return engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
    }

    static void step(SSLEngine engine, ByteBuffer out, ByteBuffer in) throws Exception {
        for (Runnable task; (task = engine.getDelegatedTask()) != null;) task.run();
        if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) engine.wrap(ByteBuffer.allocate(0), out);
        in.flip();
        if (in.hasRemaining()) engine.unwrap(in, ByteBuffer.allocate(1 << 16));
        in.compact();
        for (Runnable task; (task = engine.getDelegatedTask()) != null;) task.run();
    }
}
