"""Writes numbered records with acks=all and idempotence until standard input ends, then reads the topic back (past the
proxy, or any other way that `direct` leads) and says what became of them: one JSON answer on standard output. With
`pauseMs` it writes so seldom; with `unanswered` it has no more records than that under way to a partition; with
`progress` it says each second, on standard error, how many are acknowledged."""
import json
import sys
import threading
import time

from confluent_kafka import Consumer, Producer, TopicPartition

request = json.loads(sys.stdin.readline())
topic, partitions = request["topic"], request["partitions"]
acked = [[] for _ in range(partitions)]
sent = [0] * partitions
answered = [0] * partitions
failures = []
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()


def delivered(error, message):
    answered[message.partition()] += 1
    if error is None:
        acked[message.partition()].append(int(message.value().split()[0]))
    else:
        failures.append(str(error))


producer = Producer({
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 5,
    "message.timeout.ms": 300000,
    "queue.buffering.max.messages": 20000,
    "log_level": 2,
    **request["config"],
})
limit = request.get("unanswered", 1000000)
pause = request.get("pauseMs", 0) / 1000
said = time.monotonic()
while not stop.is_set():
    for partition in range(partitions):
        if sent[partition] - answered[partition] >= limit:
            continue
        try:
            producer.produce(topic, partition=partition, value="%d %s" % (sent[partition], "x" * 200), on_delivery=delivered)
            sent[partition] += 1
        except BufferError:
            pass
    producer.poll(0.002)
    time.sleep(pause)
    if request.get("progress") and time.monotonic() - said > 1:
        said = time.monotonic()
        print(sum(map(len, acked)), file=sys.stderr, flush=True)
producer.flush(330)

consumer = Consumer({**request["direct"], "group.id": "check", "enable.auto.commit": False, "log_level": 2})
problems = []
read = 0
for partition in range(partitions):
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=120)
    consumer.assign([TopicPartition(topic, partition, low)])
    found = []
    deadline = time.monotonic() + 300
    while len(found) < high - low and time.monotonic() < deadline:
        for message in consumer.consume(5000, timeout=1):
            if message.error() is None:
                found.append(int(message.value().split()[0]))
    read += len(found)
    if found != sorted(found):
        problems.append("partition %d is out of order" % partition)
    if len(found) != len(set(found)):
        problems.append("partition %d has %d records twice" % (partition, len(found) - len(set(found))))
    missing = set(acked[partition]) - set(found)
    if missing:
        problems.append("partition %d lacks %d acknowledged records, first %d" % (partition, len(missing), min(missing)))
consumer.close()
print(json.dumps({"acked": sum(map(len, acked)), "read": read, "failed": len(failures), "failures": failures[:3], "problems": problems}))
