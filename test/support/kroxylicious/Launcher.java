import io.kroxylicious.proxy.KafkaProxy;
import io.kroxylicious.proxy.config.ConfigParser;
import io.kroxylicious.proxy.internal.config.Features;
import java.nio.file.Files;
import java.nio.file.Path;

/** Starts Kroxylicious on a configuration file. Its own application module is not in the registry; its runtime is. */
public final class Launcher {
    public static void main(String[] arguments) throws Exception {
        var parser = new ConfigParser();
        try (var file = Files.newInputStream(Path.of(arguments[0]));
                var proxy = new KafkaProxy(parser, parser.parseConfiguration(file), Features.builder().build())) {
            proxy.startup();
            proxy.block();
        }
    }
}
