export * from '../../../src/store/embedded/kafka-java.ts';
