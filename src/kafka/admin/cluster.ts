import { ERRORS } from '../errors.ts';
import type { DescribeQuorumResponseReplicaState } from '../schemas/types.ts';
import { answerOf, faultOf, mapAnswer } from './answer.ts';
import type { Answer, ItemResult } from './answer.ts';
import type { Send } from './routing.ts';

/** A voter or an observer of the metadata quorum, as its leader sees it. */
export interface QuorumReplica {
  id: number;
  directoryId: string;
  logEndOffset: number;
  /** Records that it is behind the leader. */
  lag: number;
  /** In milliseconds since 1970; undefined if the leader does not know, as after an election. */
  lastFetchAt: number | undefined;
  lastCaughtUpAt: number | undefined;
}

/** The metadata quorum. */
export interface Quorum {
  leaderId: number;
  leaderEpoch: number;
  highWatermark: number;
  voters: QuorumReplica[];
  observers: QuorumReplica[];
}

/** A node as it registered itself; a fenced broker is registered, but takes no traffic. */
export interface ClusterNode {
  id: number;
  host: string;
  port: number;
  rack: string | undefined;
  fenced: boolean;
}

/** Brokers, or controllers where the client talks to those. */
export interface Cluster {
  clusterId: string;
  /** The active controller where the client talks to controllers; brokers name any broker. */
  controllerId: number;
  nodes: ClusterNode[];
}

/** What a node can do, and what the cluster has agreed on: `metadata.version`, `kraft.version` and the like. */
export interface Features {
  supported: Record<string, { min: number; max: number }>;
  finalized: Record<string, number>;
  /** Undefined as long as the node knows of nothing agreed on. */
  finalizedEpoch: bigint | undefined;
}

/** A change of a feature's level; 0 takes the feature away. */
export interface FeatureUpdate {
  feature: string;
  level: number;
  /** A safe downgrade loses no metadata; an unsafe one may. */
  kind?: 'upgrade' | 'safe-downgrade' | 'unsafe-downgrade';
}

/** A controller that is to vote (KIP-853). */
export interface Voter {
  id: number;
  directoryId: string;
  listeners: { name: string; host: string; port: number }[];
}

const METADATA_TOPIC = '__cluster_metadata';
const UPGRADE_TYPES = { upgrade: 1, 'safe-downgrade': 2, 'unsafe-downgrade': 3 };
const ENDPOINT_TYPES = { brokers: 1, controllers: 2 };

const timeOf = (timestamp: bigint) => (timestamp < 0n ? undefined : Number(timestamp));

function replicaOf(state: DescribeQuorumResponseReplicaState, leaderEnd: number): QuorumReplica {
  const logEndOffset = Number(state.logEndOffset);
  return {
    id: state.replicaId,
    directoryId: state.replicaDirectoryId,
    logEndOffset,
    lag: Math.max(0, leaderEnd - logEndOffset),
    lastFetchAt: timeOf(state.lastFetchTimestamp),
    lastCaughtUpAt: timeOf(state.lastCaughtUpTimestamp),
  };
}

/** Calls about the cluster as a whole and the nodes in it. */
export function clusterCalls(
  send: Send,
  { timeoutMs, endpoints }: { timeoutMs: number; endpoints: 'brokers' | 'controllers' },
) {
  return {
    /** The metadata quorum. With the leader just lost, an error that may be gone when asked again. */
    async quorum(): Promise<Answer<Quorum>> {
      const topics = [{ topicName: METADATA_TOPIC, partitions: [{ partitionIndex: 0 }] }];
      const { value, error } = await send('DescribeQuorum', { topics });
      if (error) return { error };
      const partition = value.topics[0]?.partitions[0];
      if (value.errorCode !== 0 || !partition)
        return { error: faultOf(value.errorCode || ERRORS.UNKNOWN_SERVER_ERROR.code, value.errorMessage)! };
      return answerOf(partition, () => {
        const { leaderId, leaderEpoch, highWatermark, currentVoters, observers } = partition;
        const leader = currentVoters.find(({ replicaId }) => replicaId === leaderId);
        const end = Number(leader?.logEndOffset ?? highWatermark);
        return {
          leaderId,
          leaderEpoch,
          highWatermark: Number(highWatermark),
          voters: currentVoters.map((state) => replicaOf(state, end)),
          observers: observers.map((state) => replicaOf(state, end)),
        };
      });
    },

    async cluster(): Promise<Answer<Cluster>> {
      const endpointType = ENDPOINT_TYPES[endpoints];
      const includeFencedBrokers = endpoints === 'brokers';
      const answer = await send('DescribeCluster', { endpointType, includeFencedBrokers });
      return mapAnswer(answer, (response) =>
        answerOf(response, () => ({
          clusterId: response.clusterId,
          controllerId: response.controllerId,
          nodes: response.brokers.map(({ brokerId: id, host, port, rack, isFenced: fenced }) => ({
            id,
            host,
            port,
            rack: rack ?? undefined,
            fenced,
          })),
        })),
      );
    },

    /** What one node supports, or any. */
    async features(node?: number): Promise<Answer<Features>> {
      const body = { clientSoftwareName: 'isthmus', clientSoftwareVersion: '1' };
      const answer = await send('ApiVersions', body, node === undefined ? undefined : { node });
      return mapAnswer(answer, (response) =>
        answerOf(response, () => {
          const { supportedFeatures = [], finalizedFeatures = [], finalizedFeaturesEpoch = -1n } = response;
          const supported = supportedFeatures.map(
            ({ name, minVersion: min, maxVersion: max }) => [name, { min, max }] as const,
          );
          return {
            supported: Object.fromEntries(supported),
            finalized: Object.fromEntries(
              finalizedFeatures.map(({ name, maxVersionLevel }) => [name, maxVersionLevel]),
            ),
            finalizedEpoch: finalizedFeaturesEpoch < 0n ? undefined : finalizedFeaturesEpoch,
          };
        }),
      );
    },

    /** All or nothing. `validateOnly` asks whether it would be accepted. */
    async updateFeatures(
      updates: readonly FeatureUpdate[],
      { validateOnly = false } = {},
    ): Promise<ItemResult> {
      const featureUpdates = updates.map(({ feature, level, kind = 'upgrade' }) => ({
        feature,
        maxVersionLevel: level,
        upgradeType: UPGRADE_TYPES[kind],
      }));
      const { value, error } = await send('UpdateFeatures', { timeoutMs, featureUpdates, validateOnly });
      if (error) return { error };
      const failed = value.results.find(({ errorCode }) => errorCode !== 0) ?? value;
      return { error: faultOf(failed.errorCode, failed.errorMessage) };
    },

    /** Forgets a broker that is gone for good. */
    async unregisterBroker(brokerId: number): Promise<ItemResult> {
      const { value, error } = await send('UnregisterBroker', { brokerId });
      return { error: error ?? faultOf(value.errorCode, value.errorMessage) };
    },

    async addVoter({ id, directoryId, listeners }: Voter): Promise<ItemResult> {
      const body = {
        clusterId: null,
        timeoutMs,
        voterId: id,
        voterDirectoryId: directoryId,
        listeners,
        ackWhenCommitted: true,
      };
      const { value, error } = await send('AddRaftVoter', body);
      return { error: error ?? faultOf(value.errorCode, value.errorMessage) };
    },

    async removeVoter({ id, directoryId }: Pick<Voter, 'id' | 'directoryId'>): Promise<ItemResult> {
      const body = { clusterId: null, voterId: id, voterDirectoryId: directoryId };
      const { value, error } = await send('RemoveRaftVoter', body);
      return { error: error ?? faultOf(value.errorCode, value.errorMessage) };
    },
  };
}
