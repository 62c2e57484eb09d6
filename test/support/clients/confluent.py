"""confluent-kafka for the testbed: reads one JSON request on standard input, writes one JSON answer on standard output."""
import json
import sys
import time

from confluent_kafka import Consumer, KafkaError, Producer

FATAL = (KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError.SASL_AUTHENTICATION_FAILED)


class Failure(Exception):
    pass


def on_error(error):
    """librdkafka retries for ever what will never succeed; the testbed wants to know at once."""
    if error.code() in FATAL or "certificate" in error.str():
        raise Failure(str(error))


def produce(request):
    failures = []
    timeout = request["timeoutMs"]
    producer = Producer({**request["config"], "acks": "all", "message.timeout.ms": timeout, "error_cb": on_error})

    def delivered(error, _message):
        if error is not None:
            failures.append(str(error))

    for record in request["records"]:
        producer.produce(request["topic"], key=record["key"], value=record["value"], on_delivery=delivered)
    # Not flush(): it goes on waiting when on_error has raised.
    deadline = time.monotonic() + timeout / 1000
    while len(producer) > 0 and time.monotonic() < deadline:
        producer.poll(0.1)
    left = len(producer) + len(failures)
    if left > 0:
        raise Failure("%d not delivered; %s" % (left, failures[:1]))
    return []


def text(data):
    return None if data is None else data.decode()


def consume(request):
    deadline = time.monotonic() + request["timeoutMs"] / 1000
    own = {"group.id": request["group"], "auto.offset.reset": "earliest", "error_cb": on_error}
    consumer = Consumer({**request["config"], **own})
    records = []
    try:
        consumer.subscribe([request["topic"]])
        while len(records) < request["count"]:
            if time.monotonic() > deadline:
                raise Failure("%d of %d records within the time" % (len(records), request["count"]))
            for message in consumer.consume(request["count"] - len(records), timeout=0.2):
                error = message.error()
                if error is None:
                    records.append({"key": text(message.key()), "value": text(message.value())})
                elif not error.retriable() and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise Failure(str(error))
    finally:
        consumer.close()
    return records


def main():
    request = json.load(sys.stdin)
    try:
        answer = produce(request) if request["action"] == "produce" else consume(request)
    except Failure as failure:
        sys.exit("confluent-kafka: %s" % failure)
    json.dump(answer, sys.stdout)


main()
