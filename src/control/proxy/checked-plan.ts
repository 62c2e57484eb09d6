/** A plan of which the proxy would take everything. */
import type { Checker, Refusals } from './checks.ts';
import type { Findings, Observed, PlanSettings } from './observed.ts';
import { planProxy } from './plan.ts';
import type { Plan } from './plan.ts';

export interface CheckedPlan {
  plan: Plan;
  /** Those it began with, and what the proxy would refuse. */
  findings: Findings;
}

/** Plans until the proxy's own checks find nothing more: what goes may leave room for what has not been looked at yet. */
export async function checkedPlan(
  observed: Observed,
  settings: PlanSettings,
  known: Findings,
  checker: Checker,
): Promise<CheckedPlan> {
  let findings = known;
  for (;;) {
    const plan = planProxy(observed, settings, findings);
    const refused = withRefusals(findings, await checker.config(plan.config));
    // Whatever is refused is not in the next plan, so that this ends.
    if (countOf(refused) === countOf(findings)) return { plan, findings };
    findings = refused;
  }
}

function withRefusals(findings: Findings, { filters, clusters }: Refusals): Findings {
  return {
    ...findings,
    filters: new Map([...findings.filters, ...filters]),
    clusters: new Map([...findings.clusters, ...clusters]),
  };
}

const countOf = ({ filters, clusters }: Findings) => filters.size + clusters.size;
