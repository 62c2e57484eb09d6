/** The operator's name: of its Deployment, ServiceAccount, roles and Lease. */
export const OPERATOR_NAME = 'isthmus-operator';
