/** What the operator has a pod do, in the place of a command: the next word is the task, and then comes where the answer goes. */
export const PROBE_TASK = '__probe-task';
