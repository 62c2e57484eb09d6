/** How everything that this program writes is signed, whichever road it is for. */
import type { Signature } from '../../kube/write/apply-decision.ts';

export const FIELD_MANAGER = 'isthmus';

export const SIGNATURE: Signature = { fieldManager: FIELD_MANAGER, hashAnnotation: 'isthmus.dev/applied' };

/** On every object that this program makes and looks after. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'isthmus' };
