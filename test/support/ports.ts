export * from '../../src/store/embedded/ports.ts';
