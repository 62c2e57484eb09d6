/**
 * Kafka clusters that the operator runs, on a real API server with real Kafka in the pods, beside the same cluster by hand: how soon it
 * serves, how long producers wait in a roll; what many topics and users take; and what the operator does when nothing is to be done.
 */
import type { AnyObject } from '../src/kube/object.ts';
import { startBed } from './brokers/bed.ts';
import type { Bed } from './brokers/bed.ts';
import { converge, idle, topics, users } from './brokers/entities.ts';
import { byHand, byOperator, capture, over } from './brokers/ready.ts';
import { measureRoll, rollByHand, rollByOperator, startStallLoad } from './brokers/stall.ts';
import type { Roll } from './brokers/stall.ts';
import type { BenchOptions, BenchResult } from './main.ts';
import { median } from './proxy/figures.ts';

type Log = BenchOptions['log'];

interface Size {
  /** How often a cluster is made each way, and rolled each way. */
  clusters: number;
  rolls: number;
  topics: number;
  users: number;
  /** Longer than the time after which topics and users are looked at although nothing has changed. */
  idleSeconds: number;
}

const FULL: Size = { clusters: 5, rolls: 3, topics: 1000, users: 200, idleSeconds: 150 };
const QUICK: Size = { clusters: 1, rolls: 1, topics: 200, users: 40, idleSeconds: 30 };

export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  const size = quick ? QUICK : FULL;
  await using bed = await startBed();
  log('the operator makes a cluster, of which the manifests are taken');
  const manifests = await capture(bed);
  await over(bed);
  const ready = await readyTimes(bed, manifests, size.clusters, log);
  const rolls = await rollTimes(bed, size.rolls, log);
  const entities = await entityFigures(bed, size, log);
  const stalls = (these: readonly Roll[]) => median(these.map(({ stallMs }) => stallMs));
  const took = (these: readonly Roll[]) => round(median(these.map(({ seconds }) => seconds)));
  return {
    ratios: {
      'ready.vs_by_hand': ratio(median(ready.operator), median(ready.hand)),
      'stall.vs_by_hand': ratio(stalls(rolls.operator), stalls(rolls.hand)),
    },
    figures: {
      ready_s: round(median(ready.operator)),
      ready_by_hand_s: round(median(ready.hand)),
      ready_rounds_s: ready.operator.map(round),
      ready_by_hand_rounds_s: ready.hand.map(round),
      stall_ms: stalls(rolls.operator),
      stall_by_hand_ms: stalls(rolls.hand),
      stall_rounds_ms: rolls.operator.map(({ stallMs }) => stallMs),
      stall_by_hand_rounds_ms: rolls.hand.map(({ stallMs }) => stallMs),
      roll_s: took(rolls.operator),
      roll_by_hand_s: took(rolls.hand),
      ...entities,
    },
  };
}

/** By turns; the last is one of the operator's, and stays. */
async function readyTimes(bed: Bed, manifests: readonly AnyObject[], rounds: number, log: Log) {
  const [operator, hand]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    hand.push(await byHand(bed, manifests));
    await over(bed);
    operator.push(await byOperator(bed));
    if (round < rounds) await over(bed);
    log(`ready after ${operator.at(-1)?.toFixed(1)} s, by hand after ${hand.at(-1)?.toFixed(1)} s`);
  }
  return { operator, hand };
}

async function rollTimes(bed: Bed, rounds: number, log: Log) {
  const load = await startStallLoad(bed);
  const [operator, hand]: [Roll[], Roll[]] = [[], []];
  try {
    for (let round = 1; round <= rounds; round++) {
      const ways = [
        async () => hand.push(await measureRoll(bed, load, rollByHand)),
        async () => operator.push(await measureRoll(bed, load, rollByOperator)),
      ];
      for (const roll of round % 2 === 0 ? ways : ways.toReversed()) await roll();
      const said = ({ stallMs, seconds }: Roll) => `${stallMs} ms in ${seconds.toFixed(0)} s`;
      log(`a partition waited ${said(operator.at(-1)!)}, by hand ${said(hand.at(-1)!)}`);
    }
  } finally {
    await load.stop();
  }
  return { operator, hand };
}

async function entityFigures(bed: Bed, size: Size, log: Log): Promise<Record<string, unknown>> {
  const made = await converge(bed, topics(size.topics));
  log(`${size.topics} topics: ${JSON.stringify(made)}`);
  const known = await converge(bed, users(size.users));
  log(`${size.users} users: ${JSON.stringify(known)}`);
  const rest = await idle(bed, size.idleSeconds);
  log(`idle: ${JSON.stringify(rest)}`);
  return {
    topics: size.topics,
    topics_converge_s: round(made.seconds),
    topics_made_s: round(made.makingSeconds),
    topics_cpu_s: round(made.cpuSeconds),
    topics_api_requests: made.apiRequests,
    topics_writes: made.writes,
    topics_kafka_requests: made.kafkaRequests,
    users: size.users,
    users_converge_s: round(known.seconds),
    users_made_s: round(known.makingSeconds),
    users_cpu_s: round(known.cpuSeconds),
    users_api_requests: known.apiRequests,
    users_writes: known.writes,
    users_kafka_requests: known.kafkaRequests,
    idle_s: size.idleSeconds,
    idle_writes: rest.written.length,
    idle_lease_writes: rest.leaseWrites,
    idle_cpu_percent: Math.round(rest.cpuPercent * 100) / 100,
    idle_api_requests: rest.apiRequests,
    idle_kafka_requests: rest.kafkaRequests,
  };
}

const round = (value: number) => Math.round(value * 10) / 10;
const ratio = (ours: number, theirs: number) => Math.round((ours / theirs) * 100) / 100;
