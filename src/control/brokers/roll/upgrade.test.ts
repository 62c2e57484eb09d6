import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { KAFKA_VERSION } from '../../../../test/support/install/kafka.ts';
import { upgradeStep } from './upgrade.ts';
import type { UpgradeQuestion } from './upgrade.ts';
import {
  DEFAULT_KAFKA_VERSION,
  METADATA_VERSIONS,
  canLower,
  imageOf,
  kafkaVersionOf,
  metadataVersionAt,
  metadataVersionOf,
} from './versions.ts';

const level = (name: string) => metadataVersionOf(name)!.level;

function ask(running: string[], wanted: string, metadata?: string, wantedMetadata?: string): UpgradeQuestion {
  return {
    running,
    wanted,
    metadataLevel: metadata === undefined ? undefined : level(metadata),
    wantedMetadata,
  };
}

const run = (version: string, metadataVersion: string, to?: string) => ({
  do: 'run',
  version,
  metadataVersion,
  finalize: to && { level: level(to), downgrade: level(to) < level(metadataVersion) },
});

function refusal(question: UpgradeQuestion): string {
  const step = upgradeStep(question);
  return step.do === 'refused' ? `${step.field}: ${step.why}` : `not refused: ${JSON.stringify(step)}`;
}

suite('versions', () => {
  test('levels count up by one, as Kafka has them', () => {
    assert.deepEqual(
      METADATA_VERSIONS.map((one) => one.level),
      Array.from({ length: 24 }, (_, index) => 7 + index),
    );
    assert.equal(level('3.3-IV3'), 7);
    assert.equal(level('3.9'), 21);
    assert.equal(level('4.0'), 25);
    assert.equal(level('4.2-IV0'), 28);
    assert.equal(level('4.3'), 30);
    assert.equal(metadataVersionOf('4'), undefined);
  });

  test('any patch of a known release is supported; the default is what is tested with', () => {
    assert.equal(kafkaVersionOf('4.1.7')?.latest.name, '4.1-IV1');
    for (const unknown of ['3.9.1', '4.4.0', '4.3', 'latest', '4.3.1-rc0', ''])
      assert.equal(kafkaVersionOf(unknown), undefined, unknown);
    assert.equal(DEFAULT_KAFKA_VERSION, KAFKA_VERSION);
  });

  test('the image is the official one, or the user’s', () => {
    assert.equal(imageOf('4.3.1', {}), 'apache/kafka:4.3.1');
    assert.equal(
      imageOf('4.3.1', { '4.3.1': 'registry.example/kafka:4.3.1' }),
      'registry.example/kafka:4.3.1',
    );
  });
});

suite('upgrade', () => {
  test('a new cluster begins with what is wanted', () => {
    assert.deepEqual(upgradeStep(ask([], '4.3.1')), run('4.3.1', '4.3-IV0'));
    assert.deepEqual(upgradeStep(ask([], '4.3.1', undefined, '4.2')), run('4.3.1', '4.2-IV1'));
  });

  test('binaries first, then metadata.version', () => {
    assert.deepEqual(upgradeStep(ask(['4.2.0', '4.2.0'], '4.3.1', '4.2')), run('4.3.1', '4.2-IV1'));
    assert.deepEqual(upgradeStep(ask(['4.3.1', '4.2.0'], '4.3.1', '4.2')), run('4.3.1', '4.2-IV1'));
    assert.deepEqual(upgradeStep(ask(['4.3.1', '4.3.1'], '4.3.1', '4.2')), run('4.3.1', '4.2-IV1', '4.3'));
    assert.deepEqual(upgradeStep(ask(['4.3.1', '4.3.1'], '4.3.1', '4.3')), run('4.3.1', '4.3-IV0'));
  });

  test('several releases at once, as Kafka allows', () => {
    assert.deepEqual(upgradeStep(ask(['4.0.0'], '4.3.1', '4.0')), run('4.3.1', '4.0-IV3'));
  });

  test('a metadata.version that is named is kept to', () => {
    assert.deepEqual(upgradeStep(ask(['4.3.1'], '4.3.1', '4.2', '4.2-IV1')), run('4.3.1', '4.2-IV1'));
  });

  test('back in the middle of an upgrade', () => {
    assert.deepEqual(upgradeStep(ask(['4.3.1', '4.2.0'], '4.2.0', '4.2')), run('4.2.0', '4.2-IV1'));
  });

  test('back after it: refused where the metadata changed its form', () => {
    const why = refusal(ask(['4.3.1'], '4.2.0', '4.3', '4.2'));
    assert.match(
      why,
      /^spec\.kafka\.version: Kafka 4\.2\.0 supports metadata\.version up to 4\.2-IV1, and 4\.3-IV0 is in force/,
    );
    assert.match(why, /Set the version back to 4\.3\.x or newer\.$/);
    assert.match(
      refusal(ask(['4.3.1'], '4.3.1', '4.3', '4.2')),
      /^spec\.kafka\.metadataVersion: .*Set it to 4\.3-IV0/,
    );
  });

  test('back after it, where it did not: the level first, and only where the user names it', () => {
    assert.match(
      refusal(ask(['4.2.0'], '4.1.1', '4.2')),
      /Set spec\.kafka\.metadataVersion to 4\.1-IV1 as well/,
    );
    assert.deepEqual(upgradeStep(ask(['4.2.0'], '4.1.1', '4.2', '4.1')), run('4.2.0', '4.2-IV1', '4.1'));
    assert.deepEqual(upgradeStep(ask(['4.2.0'], '4.1.1', '4.1', '4.1')), run('4.1.1', '4.1-IV1'));
  });

  test('what is not known is named, with what is', () => {
    assert.match(
      refusal(ask([], '5.0.0')),
      /Kafka 5\.0\.0 is not supported; choose one of 4\.0\.x, .*4\.3\.x/,
    );
    assert.match(
      refusal(ask(['3.9.1'], '4.3.1', '3.9')),
      /A node runs Kafka 3\.9\.1, which is not supported/,
    );
    assert.match(
      refusal(ask([], '4.3.1', undefined, '9.9')),
      /9\.9 is no metadata\.version\. .*3\.3-IV3 to 4\.3-IV0/,
    );
    assert.match(
      refusal(ask([], '4.2.0', undefined, '4.3')),
      /4\.3-IV0 is too new\. Kafka 4\.2\.0 supports .* 4\.2-IV1/,
    );
    assert.match(
      refusal({ ...ask(['4.3.1'], '4.3.1'), metadataLevel: 99 }),
      /level 99, which is not known here/,
    );
  });

  test('metadata.version unknown: up, but not down, and nothing is finalized', () => {
    assert.deepEqual(upgradeStep(ask(['4.2.0'], '4.3.1')), run('4.3.1', '4.2-IV1'));
    const step = upgradeStep(ask(['4.3.1', '4.2.0'], '4.2.0'));
    assert.ok(step.do === 'ask');
    assert.match(step.why, /has to be known before a downgrade/);
  });

  test('never runs what cannot read the metadata, never finalizes what a node cannot read, and arrives', () => {
    const versions = ['4.0.0', '4.1.1', '4.2.0', '4.2.2', '4.3.0', '4.3.1'];
    const version = fc.constantFrom(...versions);
    const metadata = fc.option(fc.constantFrom('4.0', '4.1', '4.2', '4.3', '4.0-IV2'), { nil: undefined });
    fc.assert(
      fc.property(version, fc.array(fc.tuple(version, metadata), { maxLength: 6 }), (first, wishes) => {
        const nodes = [first, first, first];
        let metadataLevel = kafkaVersionOf(first)!.latest.level;
        for (const [wanted, wantedMetadata] of wishes) {
          for (let round = 0; round < 10; round++) {
            const step = upgradeStep({ running: nodes, wanted, metadataLevel, wantedMetadata });
            if (step.do !== 'run') break;
            const low = Math.min(...[step.version, ...nodes].map((one) => kafkaVersionOf(one)!.latest.level));
            assert.ok(metadataLevel <= low, 'a node that cannot read the metadata');
            if (step.finalize !== undefined) {
              assert.ok(step.finalize.level <= low, 'a level that a node cannot read');
              const [from, to] = [metadataVersionAt(metadataLevel)!, metadataVersionAt(step.finalize.level)!];
              assert.ok(!step.finalize.downgrade || canLower(from, to), 'a downgrade that Kafka refuses');
              metadataLevel = step.finalize.level;
            }
            const behind = nodes.findIndex((one) => one !== step.version);
            if (behind >= 0) nodes[behind] = step.version;
            else if (step.finalize === undefined) {
              assert.equal(step.version, wanted);
              break;
            }
            assert.ok(round < 9, 'it never arrives');
          }
        }
      }),
    );
  });
});
