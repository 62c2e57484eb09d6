/**
 * The nodes of a Kafka cluster in memory: kubelets that start pods as sets list them, with disks that are formatted as the start script would,
 * and a Kafka that answers the operator's questions. It stands for a real one so that an operator can die a thousand times in a few seconds.
 */
import assert from 'node:assert/strict';
import { podsIn } from '../../../src/control/brokers/objects/pod-sets.ts';
import {
  NEW_DISKS_ANNOTATION,
  NODE_ID_ANNOTATION,
  VERSION_ANNOTATION,
} from '../../../src/control/brokers/model/names.ts';
import { kafkaVersionOf, metadataVersionOf } from '../../../src/control/brokers/roll/versions.ts';
import { isPodReady } from '../../../src/control/brokers/status.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { elect, memoryAdmin } from './memory-admin.ts';
import type { KafkaState } from './memory-admin.ts';
import { collectGarbage, growDisks, growFileSystems } from './memory-controllers.ts';
import type { MemoryKafka } from './memory-kafka.ts';

export interface MemoryNodes {
  kafka: KafkaState;
  /** Nodes whose pods the operator has deleted, until they are back. */
  down: ReadonlySet<number>;
  /** Nodes whose pods never become ready. */
  keepsDown: Set<number>;
  /** The operator deletes a pod: fails where that must not be. */
  taken(pod: AnyObject): void;
  /** Time passes: sets get their pods, pods start, replicas catch up, partitions arrive. */
  tick(): void;
  /** Somebody loses the disk of a node that runs; says whether there was one that may not be formatted any more. */
  loseDisk(node: number, forGood?: 'for good'): boolean;
  /** Lost disks are found again, but those that are lost for good. */
  findDisks(): void;
  /** Whether the node is ready, and in every ISR that it belongs to. */
  isBack(node: number): boolean;
  remember(): () => void;
}

const idOf = ({ metadata }: AnyObject) => Number(/-(\d+)$/.exec(metadata.name)?.[1]);
const isController = ({ metadata }: AnyObject) => metadata.labels?.['strimzi.io/controller-role'] === 'true';
const isBroker = ({ metadata }: AnyObject) => metadata.labels?.['strimzi.io/broker-role'] === 'true';
/** Whether somebody has said that what is on its disks may go. */
const isGivenUp = ({ metadata }: AnyObject) => metadata.annotations?.[NEW_DISKS_ANNOTATION] === 'true';
/** The highest level of metadata that it can read. */
const levelOf = ({ metadata }: AnyObject) =>
  kafkaVersionOf(metadata.annotations?.[VERSION_ANNOTATION] ?? '')!.latest.level;
const MIN_ISR = 2;

function ownedBy({ apiVersion, kind, metadata: { name, uid = '' } }: AnyObject, pod: AnyObject): AnyObject {
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
  return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
}

export function createMemoryNodes(memory: MemoryKafka): MemoryNodes {
  const kafka: KafkaState = { partitions: [], moves: new Map(), registered: new Set(), dynamic: new Map(), started: new Map(), level: 0, leader: undefined }; // prettier-ignore
  /** By uid of a claim: the id of the cluster that it was formatted for, and whether somebody has lost it. */
  const disks = new Map<string, { cluster: string; lost: boolean | 'for good' }>();
  const down = new Set<number>();
  const keepsDown = new Set<number>();

  const podOf = (id: number) => memory.list('Pod').find((pod) => idOf(pod) === id);
  const isUp = (id: number) => {
    const pod = podOf(id);
    return pod !== undefined && isPodReady(pod);
  };
  /** Whether it runs as a broker. */
  const serves = (id: number) => {
    const pod = podOf(id);
    return pod !== undefined && isPodReady(pod) && isBroker(pod);
  };
  const isBack = (id: number) =>
    isUp(id) && kafka.partitions.every(({ replicas, isr }) => !replicas.includes(id) || isr.includes(id));

  const voters = () => memory.list('Pod').filter(isController).map(idOf);

  memory.connect = (_wanted, pods, _tls, endpoints) =>
    pods.some(isPodReady)
      ? memoryAdmin(kafka, { memory, endpoints, isUp, serves, voters, readable }) // prettier-ignore
      : undefined;

  /** The highest level of metadata that all nodes can read, also those that are not up. */
  const readable = () => Math.min(...memory.list('Pod').map(levelOf));

  /** What must be true of a pod that the operator deletes. */
  function taken(pod: AnyObject): void {
    const id = idOf(pod);
    // A node that is down already may be restarted beside another: that takes nothing away.
    const others = [...down].filter((other) => isUp(id) && other !== id && !isBack(other));
    assert.deepEqual(others, [], `deletes the pod of node ${id} while others are down by its hand`);
    for (const { isr, replicas } of kafka.partitions)
      if (isUp(id) && replicas.includes(id))
        assert.ok(isr.filter((one) => one !== id && isUp(one)).length >= MIN_ISR, `node ${id} breaks an ISR`);
    down.add(id);
  }

  /** What must be true of a pod that no set lists any more. */
  function dropped(pod: AnyObject): void {
    const id = idOf(pod);
    assert.ok(!isController(pod), `controller ${id} goes`);
    assert.ok(!kafka.partitions.some(({ replicas }) => replicas.includes(id)), `broker ${id} goes with data`);
    memory.delete('Pod', pod.metadata.name);
    down.delete(id);
  }

  function keepPods(): void {
    const sets = memory.list('StrimziPodSet');
    const names = new Set(sets.flatMap(podsIn).map(({ metadata }) => metadata.name));
    const isOwned = ({ metadata }: AnyObject) => sets.some((set) => set.metadata.uid === metadata.ownerReferences?.[0]?.uid); // prettier-ignore
    for (const pod of memory.list('Pod')) if (isOwned(pod) && !names.has(pod.metadata.name)) dropped(pod);
    for (const set of sets)
      for (const pod of podsIn(set)) {
        const id = idOf(pod);
        if (memory.get('Pod', pod.metadata.name)) continue;
        const hasData = kafka.partitions.some(({ replicas }) => replicas.includes(id));
        assert.ok(isBroker(pod) || !hasData, `node ${id} is no broker any more, and has data`);
        memory.put({ ...ownedBy(set, pod), status: { phase: 'Pending' } });
      }
  }

  /** As the start script does it: whether the node may start with the disks it has. */
  function hasDisks(pod: AnyObject, files: Record<string, string>): boolean {
    const claims = memory
      .list('PersistentVolumeClaim')
      .filter(({ metadata }) => metadata.annotations?.[NODE_ID_ANNOTATION] === String(idOf(pod)));
    return claims.every(({ metadata }) => {
      const disk = disks.get(metadata.uid!);
      const cluster = files['cluster.id']!;
      const isEmpty = !disk || disk.lost;
      if (!isEmpty) assert.equal(disk.cluster, cluster, `${metadata.name} is of another cluster`);
      else if (files['format'] !== '') {
        assert.ok(!disk || isGivenUp(pod), `${metadata.name} is formatted a second time`);
        disks.set(metadata.uid!, { cluster, lost: false });
      }
      return !isEmpty || files['format'] !== '';
    });
  }

  function startPods(): void {
    for (const pod of memory.list('Pod').filter((one) => !isPodReady(one))) {
      const { name } = pod.metadata;
      if (keepsDown.has(idOf(pod))) continue;
      const files = memory.get('ConfigMap', name)?.['data'] as Record<string, string> | undefined;
      if (!files || !memory.get('Secret', name) || !hasDisks(pod, files)) continue;
      // The first nodes say it; what others are formatted with later is that of the others.
      kafka.level ||= metadataVersionOf(files['metadata.version']!)!.level;
      assert.ok(levelOf(pod) >= kafka.level, `${name} cannot read metadata of level ${kafka.level}`);
      const wasRunning = (pod['status'] as { phase: string }).phase === 'Running';
      const conditions = [{ type: 'Ready', status: wasRunning ? 'True' : 'False' }];
      memory.put({ ...pod, status: { phase: 'Running', conditions } });
      kafka.started.set(idOf(pod), files['server.config']!);
      growFileSystems(memory, idOf(pod));
      if (wasRunning && isBroker(pod)) register(idOf(pod));
    }
  }

  const isCordoned = (id: number) => kafka.dynamic.get(`broker ${id}`)?.['cordoned.log.dirs'] === '*';

  /** A broker that comes for the first time is given a partition that others have, too: of those that take any. */
  function register(id: number): void {
    const isNew = !kafka.registered.has(id);
    kafka.registered.add(id);
    const others = [...kafka.registered]
      .filter((one) => one !== id && serves(one) && !isCordoned(one))
      .slice(-2);
    if (!isNew || isCordoned(id) || others.length < 2) return;
    const replicas = [id, ...others];
    kafka.partitions.push({ topic: 't', partition: kafka.partitions.length, replicas, isr: replicas, minIsr: MIN_ISR }); // prettier-ignore
  }

  function movePartitions(): void {
    for (const partition of kafka.partitions) {
      const target = kafka.moves.get(partition.partition);
      if (target?.every(serves)) {
        Object.assign(partition, { replicas: target, isr: target });
        kafka.moves.delete(partition.partition);
      }
      const alive = partition.replicas.filter(serves);
      if (alive.length > 0) partition.isr = alive;
    }
    for (const id of down) if (isBack(id)) down.delete(id);
  }

  return {
    kafka,
    down,
    keepsDown,
    isBack,
    tick() {
      elect(kafka, voters().filter(isUp));
      collectGarbage(memory);
      keepPods();
      growDisks(memory);
      movePartitions();
      startPods();
    },
    loseDisk(id, how) {
      const pod = podOf(id);
      const files = memory.get('ConfigMap', pod?.metadata.name ?? '')?.['data'] as
        | { format: string }
        | undefined;
      if (!pod || !isUp(id) || files?.format !== '') return false;
      for (const { metadata } of memory.list('PersistentVolumeClaim'))
        if (metadata.annotations?.[NODE_ID_ANNOTATION] === String(id))
          disks.get(metadata.uid!)!.lost = how ?? true;
      memory.put({ ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } });
      return true;
    },
    findDisks() {
      for (const disk of disks.values()) if (disk.lost !== 'for good') disk.lost = false;
    },
    remember() {
      const kept = structuredClone({ kafka, disks, down });
      return () => {
        const { kafka: state, disks: had, down: were } = structuredClone(kept);
        Object.assign(kafka, state);
        disks.clear();
        had.forEach((disk, uid) => disks.set(uid, disk));
        down.clear();
        were.forEach((id) => down.add(id));
      };
    },
    taken,
  };
}
