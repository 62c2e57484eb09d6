/** What is done in Kafka for a KafkaUser, for whoever looks at it. Pure. */
import type { News } from '../news.ts';
import type { UserStep } from './plan-user.ts';

export function newsOfStep(step: UserStep): News {
  if (step.do === 'add acls') return { reason: 'AclsAdded', note: `added ${step.acls.length} ACLs` };
  if (step.do === 'remove acls') return { reason: 'AclsRemoved', note: `removed ${step.acls.length} ACLs` };
  if (step.do === 'set quotas')
    return { reason: 'QuotasChanged', note: `changed ${Object.keys(step.change.values).join(', ')}` };
  if (step.do === 'set password')
    return { reason: 'PasswordSet', note: `"${step.username}" can log in with the password of its Secret` };
  return { reason: 'PasswordRemoved', note: `"${step.username}" can no longer log in with a password` };
}
