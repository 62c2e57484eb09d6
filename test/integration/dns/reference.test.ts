/**
 * Whole answers beside those of Knot DNS and BIND for the same random zones. Sections are compared without regard to
 * order; the serial, which ours makes from the time, is left out. What differs on purpose stands in DIFFERENCES.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { seededRandom } from '../../support/dns/fuzzing.ts';
import { randomQuestion, randomRecords } from '../../support/dns/random-zone.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import { readReply } from '../../support/dns/testing.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { askAll } from './ask.ts';
import { startBind, startKnot } from './reference-servers.ts';
import { ensureDnsTools } from './tools.ts';
import type { Reply } from '../../support/dns/testing.ts';
import type { Question } from './ask.ts';
import type { ReferenceZone } from './reference-servers.ts';

const ZONES = Number(process.env['ISTHMUS_DNS_ZONES'] ?? 1000);
const QUESTIONS_PER_ZONE = 12;

type Answer = Pick<Reply, 'rcode' | 'authoritative' | 'truncated' | 'answer' | 'authority' | 'additional'>;

function comparable(reply: Reply): Answer {
  const plain = (lines: string[]) => lines.map((line) => line.replace(/( SOA \S+ \S+) \d+/, '$1')).toSorted();
  const { rcode, authoritative, truncated } = reply;
  return {
    rcode,
    authoritative,
    truncated,
    answer: plain(reply.answer),
    authority: plain(reply.authority),
    additional: plain(reply.additional),
  };
}

/** A difference that is right as it is: which server it is to, how to tell it, and why. */
interface Difference {
  to: 'knot' | 'bind';
  why: string;
  explains: (ours: Answer, theirs: Answer, question: Question) => boolean;
}

const DIFFERENCES: Difference[] = [
  {
    to: 'knot',
    why: 'it repeats the addresses of a host that two records of the answer name; ours come once (RFC 2181 section 5)',
    explains: (ours, theirs) =>
      isDeepStrictEqual(ours, { ...theirs, additional: [...new Set(theirs.additional)] }),
  },
  {
    to: 'knot',
    why: 'it makes additional addresses from a wildcard below a delegation, which has no authority there',
    explains: (ours, theirs) =>
      isDeepStrictEqual({ ...ours, additional: [] }, { ...theirs, additional: [] }) &&
      ours.additional.every((line) => theirs.additional.includes(line)),
  },
  {
    to: 'bind',
    why: 'its referrals bring only glue, its answers no address from below a cut; ours, like Knot’s, every address the zone has',
    explains: (ours, theirs) =>
      isDeepStrictEqual({ ...ours, additional: [] }, { ...theirs, additional: [] }) &&
      theirs.additional.every((line) => ours.additional.includes(line)),
  },
  {
    to: 'bind',
    why: 'to a loop of aliases it says SERVFAIL; ours, like Knot, leaves that to the client that follows them',
    explains: (ours, theirs) =>
      theirs.rcode === 'SERVFAIL' &&
      isDeepStrictEqual(ours, { ...theirs, rcode: 'NOERROR', answer: [...new Set(theirs.answer)] }),
  },
];

function explanation(
  to: Difference['to'],
  ours: Answer,
  theirs: Answer,
  question: Question,
): string | undefined {
  return DIFFERENCES.find((difference) => difference.to === to && difference.explains(ours, theirs, question))
    ?.why;
}

test(`${ZONES} random zones answer as in Knot and BIND`, async (t) => {
  const tools = await ensureDnsTools();
  const random = seededRandom(Number(process.env['ISTHMUS_DNS_SEED'] ?? 53));
  const zones: ReferenceZone[] = Array.from({ length: ZONES }, (_, i) => {
    const name = `z${i}.test`;
    return { name, records: randomRecords(random, name, 30) };
  });
  const questions = zones.flatMap(({ name, records }) =>
    Array.from({ length: QUESTIONS_PER_ZONE }, () => randomQuestion(random, name, records)),
  );
  const config = dnsConfigSchema.parse({
    listen: ['127.0.0.1:0'],
    zones: zones.map(({ name }) => ({ name })),
    records: zones.flatMap(({ records }) => records),
  });
  const server = await startDns(config, { log: createLog('warn'), metrics: createMetrics() });
  t.after(() => server.close());
  const ours = await askAll(server.port, questions);

  for (const [to, start] of [
    ['knot', startKnot],
    ['bind', startBind],
  ] as const) {
    await using reference = await start(tools, zones);
    const theirs = await askAll(reference.port, questions);
    const seen = new Map<string, number>();
    const unexplained: unknown[] = [];
    questions.forEach((question, i) => {
      const [mine, other] = [comparable(readReply(ours[i]!)), comparable(readReply(theirs[i]!))];
      if (isDeepStrictEqual(mine, other)) return;
      const why = explanation(to, mine, other, question);
      const zone = zones[Math.floor(i / QUESTIONS_PER_ZONE)];
      if (why === undefined) unexplained.push({ question, mine, other, zone });
      else seen.set(why, (seen.get(why) ?? 0) + 1);
    });
    for (const [why, times] of seen) t.diagnostic(`${to}: ${times} of ${questions.length}: ${why}`);
    assert.deepEqual(
      unexplained.slice(0, 3),
      [],
      `${unexplained.length} of ${questions.length} differ from ${to}`,
    );
  }
});
