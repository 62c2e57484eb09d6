export * from '../../../src/store/embedded/kafka-broker.ts';
