/** A cluster as the delegation machine sees it, and the machine, with a clock that a test moves on. */
import { advance } from '../../../src/control/discover/delegation/machine.ts';
import { initialState } from '../../../src/control/discover/delegation/machine-state.ts';
import type {
  DelegationEvent,
  MachineState,
  Patch,
  ProbeProblem,
  Step,
} from '../../../src/control/discover/delegation/machine-state.ts';
import type { ObservedDns } from '../../../src/control/discover/delegation/observe.ts';
import type { ConfigMap } from '../../../src/control/discover/delegation/platform.ts';
import type { DelegationStatus } from '../../../src/control/discover/delegation/status.ts';
import type { Written } from '../../../src/control/discover/delegation/write.ts';

export const COREFILE = '.:53 {\n    reload\n}\n';
export const OWNER = 'isthmus-system/isthmus-dns';
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const VERIFY_MS = 20 * SECOND;

export const NODE_COREFILE =
  '.:53 {\n    bind 169.254.20.10\n    reload\n    forward . /etc/resolv.conf\n}\n';

/** A cluster with CoreDNS, as far as the machine sees it, perhaps with a cache on its nodes, and the machine. */
export function simulate({
  zones = ['xcc.test'],
  last,
  nodeCache,
}: { zones?: string[]; last?: DelegationStatus; nodeCache?: string } = {}) {
  const settings = {
    zones,
    owner: OWNER,
    platform: undefined,
    server: undefined,
    verifyMs: VERIFY_MS,
  };
  const world = {
    now: 0,
    corefile: COREFILE,
    nodeCache,
    version: 1,
    /** What the other writers have written, without our block. */
    theirs: COREFILE,
    server: '10.96.0.20' as string | undefined,
    dnsAddress: '10.96.0.10' as string | undefined,
    podDns: (nodeCache === undefined ? undefined : '169.254.20.10') as string | undefined,
    isAnswering: true,
    works: true,
    nodesWork: true,
    hasCoreDns: true,
    isChanged: false,
  };
  const steps: { at: number; step: Step }[] = [];
  const statuses: DelegationStatus[] = [];
  let state: MachineState = initialState(last, settings);
  let wakeAt = 0;

  const configMap = (name = 'coredns', Corefile = world.corefile): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'kube-system',
      uid: name,
      resourceVersion: String(world.version),
    },
    data: { Corefile },
  });
  function observe(): ObservedDns {
    world.isChanged = false;
    const metadata = { name: 'isthmus-dns', namespace: 'isthmus-system' };
    const spec = world.server === undefined ? {} : { clusterIP: world.server };
    return {
      clusterDns: {
        coredns: world.hasCoreDns ? configMap() : undefined,
        nodeCache: world.nodeCache === undefined ? undefined : configMap('node-local-dns', world.nodeCache),
      },
      service: { apiVersion: 'v1', kind: 'Service', metadata, spec },
    };
  }
  function write({ object, patch }: Patch): Written {
    if (object.metadata.resourceVersion !== String(world.version)) return 'conflict';
    world.version += 1;
    const { Corefile } = (patch as { data: { Corefile: string } }).data;
    if (object.metadata.name === 'coredns') world.corefile = Corefile;
    else world.nodeCache = Corefile;
    world.isChanged = true;
    return configMap(object.metadata.name, Corefile);
  }
  /** Whether the block of ours is in the Corefile of the one that is asked, and our DNS server serves it. */
  function isServed(dnsAddress: string): boolean {
    const throughCache = world.nodeCache !== undefined && dnsAddress === world.podDns;
    if (throughCache) return world.works && world.nodesWork && world.nodeCache!.includes('xcc.test');
    if (dnsAddress === world.podDns && !world.nodesWork) return false;
    return world.works && world.corefile.includes('xcc.test');
  }
  function problem(dnsAddresses: readonly string[]): ProbeProblem | undefined {
    const dnsAddress = dnsAddresses.find((each) => !isServed(each));
    return dnsAddress === undefined ? undefined : { dnsAddress, what: 'SERVFAIL' };
  }
  function perform(step: Exclude<Step, { do: 'wait' }>): DelegationEvent {
    switch (step.do) {
      case 'observe':
        return { type: 'observed', observed: observe() };
      case 'clean':
        for (const patch of step.patches) write(patch);
        return { type: 'cleaned' };
      case 'resolve':
        return { type: 'resolved', addresses: { cluster: world.dnsAddress, pods: world.podDns } };
      case 'ping':
        return { type: 'pinged', step, silent: world.isAnswering ? undefined : step.dnsAddresses[0] };
      case 'write':
        return { type: 'written', step, written: write(step.patch) };
      case 'probe':
        return { type: 'probed', problem: problem(step.dnsAddresses) };
    }
    return step satisfies never;
  }
  /** Runs the machine until it waits. */
  function run(): void {
    let event: DelegationEvent = { type: 'woken', isChanged: world.isChanged };
    for (;;) {
      const next = advance(state, event, world.now, settings);
      state = next.state;
      steps.push({ at: world.now, step: next.step });
      if (next.status) statuses.push(next.status);
      if (next.step.do === 'wait') return void (wakeAt = world.now + next.step.ms);
      event = perform(next.step);
    }
  }
  return {
    world,
    statuses,
    steps,
    /** The states that were reported, without repetitions. */
    states: () => statuses.map((one) => one.state).filter((one, i, all) => one !== all[i - 1]),
    writes: (of: string) =>
      steps.filter(({ step }) => step.do === 'write' && step.purpose.of === of).map(({ at }) => at),
    get state() {
      return state;
    },
    /** Lets time pass: runs when it is due, or at once when an object has changed. */
    pass(ms: number): void {
      const end = world.now + ms;
      for (;;) {
        const at = world.isChanged ? world.now : Math.max(world.now, wakeAt);
        if (at > end) break;
        world.now = at;
        run();
      }
      world.now = end;
    },
    /** Somebody else replaces the Corefile, and with it our block. */
    overwrite(text: string): void {
      world.theirs = world.corefile = text;
      world.version += 1;
      world.isChanged = true;
    },
  };
}
