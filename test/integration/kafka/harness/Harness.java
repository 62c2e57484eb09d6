import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.AbstractRequest;

/**
 * Kafka's own classes as an oracle: one question a line on stdin, one answer a line on stdout, words separated by tabs.
 *
 *   decode SIDE KEY VERSION BYTES        what Java reads in these bytes: "JSON BYTES", the bytes as Java writes them again
 *   encode SIDE KEY VERSION JSON         the bytes of this message
 *   refuse KEY VERSION BYTES CODE        the error response that a broker would send to this request
 *   header KEY VERSION                   the header versions: "REQUEST RESPONSE"
 *   errors                               "NAME CODE RETRIABLE", one after the other
 *   read BYTES                           the record batches in these bytes, as a JSON array
 *   write MAGIC COMPRESSION TIME JSON    a batch of these records; TIME is CreateTime or LogAppendTime
 *   mark commit|abort                    a control batch that ends a transaction
 *
 * SIDE is request or response; BYTES are base64. An answer begins with "ok" or "failed".
 */
public final class Harness {
    static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                out.println("ok\t" + answer(line.split("\t", -1)));
            } catch (Throwable thrown) {
                Throwable cause = thrown instanceof java.lang.reflect.InvocationTargetException ? thrown.getCause() : thrown;
                out.println("failed\t" + cause.toString().replaceAll("\\s+", " "));
            }
            out.flush();
        }
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "decode":
                return decode(words[1], Short.parseShort(words[2]), Short.parseShort(words[3]), bytes(words[4]));
            case "encode":
                return encode(words[1], Short.parseShort(words[2]), Short.parseShort(words[3]), words[4]);
            case "refuse":
                return refuse(Short.parseShort(words[1]), Short.parseShort(words[2]), bytes(words[3]), Short.parseShort(words[4]));
            case "header":
                ApiMessageType type = ApiMessageType.fromApiKey(Short.parseShort(words[1]));
                short version = Short.parseShort(words[2]);
                return type.requestHeaderVersion(version) + "\t" + type.responseHeaderVersion(version);
            case "errors":
                return errors();
            default:
                return Records.answer(words);
        }
    }

    private static String decode(String side, short key, short version, ByteBuffer bytes) throws Exception {
        ApiMessage message = empty(side, key);
        message.read(new ByteBufferAccessor(bytes), version);
        if (bytes.hasRemaining()) throw new IllegalStateException(bytes.remaining() + " bytes too many");
        JsonNode json = (JsonNode) converter(message)
            .getMethod("write", message.getClass(), short.class, boolean.class)
            .invoke(null, message, version, false);
        return MAPPER.writeValueAsString(json) + "\t" + base64(MessageUtil.toByteBufferAccessor(message, version).buffer());
    }

    private static String encode(String side, short key, short version, String json) throws Exception {
        Class<?> converter = converter(empty(side, key));
        ApiMessage message = (ApiMessage) converter
            .getMethod("read", JsonNode.class, short.class)
            .invoke(null, MAPPER.readTree(json), version);
        return base64(MessageUtil.toByteBufferAccessor(message, version).buffer());
    }

    private static String refuse(short key, short version, ByteBuffer bytes, short code) {
        AbstractRequest request = AbstractRequest.parseRequest(ApiKeys.forId(key), version, new ByteBufferAccessor(bytes)).request;
        var response = request.getErrorResponse(0, Errors.forCode(code).exception());
        if (response == null) return "none";
        return base64(MessageUtil.toByteBufferAccessor(response.data(), version).buffer());
    }

    private static String errors() {
        StringBuilder table = new StringBuilder();
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            table.append(error.name()).append(' ').append(error.code()).append(' ').append(retriable).append(' ');
        }
        return table.toString().trim();
    }

    private static ApiMessage empty(String side, short key) {
        ApiMessageType type = ApiMessageType.fromApiKey(key);
        return side.equals("request") ? type.newRequest() : type.newResponse();
    }

    private static Class<?> converter(ApiMessage message) throws ClassNotFoundException {
        return Class.forName(message.getClass().getName() + "JsonConverter");
    }

    static ByteBuffer bytes(String base64) {
        return ByteBuffer.wrap(Base64.getDecoder().decode(base64));
    }

    static String base64(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return Base64.getEncoder().encodeToString(copy);
    }
}

/** Record batches, as Kafka's own builder writes and its own iterators read them. */
final class Records {
    static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "read":
                return read(Harness.bytes(words[1]));
            case "write":
                return write(Byte.parseByte(words[1]), words[2], TimestampType.forName(words[3]), words[4]);
            case "mark":
                return mark(words[1].equals("commit") ? ControlRecordType.COMMIT : ControlRecordType.ABORT);
            default:
                throw new IllegalArgumentException("no such question: " + words[0]);
        }
    }

    private static String read(ByteBuffer bytes) throws Exception {
        ArrayNode batches = Harness.MAPPER.createArrayNode();
        for (RecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
            batch.ensureValid();
            ObjectNode node = batches.addObject();
            node.put("magic", batch.magic());
            node.put("compression", batch.compressionType().name);
            node.put("timestampType", batch.timestampType().name);
            node.put("baseOffset", batch.baseOffset());
            node.put("lastOffset", batch.lastOffset());
            node.put("maxTimestamp", batch.maxTimestamp());
            node.put("producerId", batch.producerId());
            node.put("producerEpoch", batch.producerEpoch());
            node.put("baseSequence", batch.baseSequence());
            node.put("transactional", batch.isTransactional());
            node.put("control", batch.isControlBatch());
            node.put("partitionLeaderEpoch", batch.partitionLeaderEpoch());
            ArrayNode records = node.putArray("records");
            for (Record record : batch) {
                record.ensureValid();
                records.add(describe(record));
            }
        }
        return Harness.MAPPER.writeValueAsString(batches);
    }

    private static ObjectNode describe(Record record) {
        ObjectNode node = Harness.MAPPER.createObjectNode();
        node.put("offset", record.offset());
        node.put("timestamp", record.timestamp());
        node.put("key", record.hasKey() ? Harness.base64(record.key()) : null);
        node.put("value", record.hasValue() ? Harness.base64(record.value()) : null);
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers()) {
            String value = header.value() == null ? null : Base64.getEncoder().encodeToString(header.value());
            headers.addObject().put("key", header.key()).put("value", value);
        }
        return node;
    }

    private static String write(byte magic, String compression, TimestampType time, String json) throws Exception {
        JsonNode batch = Harness.MAPPER.readTree(json);
        long producerId = batch.path("producerId").asLong(RecordBatch.NO_PRODUCER_ID);
        short producerEpoch = (short) batch.path("producerEpoch").asInt(RecordBatch.NO_PRODUCER_EPOCH);
        int baseSequence = batch.path("baseSequence").asInt(RecordBatch.NO_SEQUENCE);
        boolean transactional = batch.path("transactional").asBoolean(false);
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(1024), magic, Compression.of(compression).build(), time,
            batch.path("baseOffset").asLong(), batch.path("appendTime").asLong(RecordBatch.NO_TIMESTAMP),
            producerId, producerEpoch, baseSequence, transactional, batch.path("partitionLeaderEpoch").asInt(-1));
        for (JsonNode record : batch.get("records")) {
            Header[] headers = new Header[record.get("headers").size()];
            for (int i = 0; i < headers.length; i++) {
                JsonNode header = record.get("headers").get(i);
                headers[i] = new RecordHeader(header.get("key").asText(), binary(header.get("value")));
            }
            long offset = record.get("offset").asLong();
            builder.appendWithOffset(offset, record.get("timestamp").asLong(), binary(record.get("key")), binary(record.get("value")), headers);
        }
        return Harness.base64(builder.build().buffer());
    }

    private static String mark(ControlRecordType type) {
        EndTransactionMarker marker = new EndTransactionMarker(type, 7);
        return Harness.base64(MemoryRecords.withEndTransactionMarker(1000L, 1700000000000L, 3, 42L, (short) 5, marker).buffer());
    }

    private static byte[] binary(JsonNode node) throws Exception {
        return node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }
}
