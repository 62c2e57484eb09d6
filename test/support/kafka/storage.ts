export * from '../../../src/store/embedded/kafka-storage.ts';
