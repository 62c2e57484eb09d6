/** How Kafka’s Java programs are run: small heaps and quick starts. */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

/** Apache Kafka as it lies in the cache. */
export interface KafkaHome {
  classPath: string;
  /** A formatted cluster's first records: feature levels and the SCRAM users. */
  checkpoint: string;
  /** Classes parsed and verified beforehand (CDS): it halves a start. The JVM ignores one that does not fit it. */
  archive: string;
}

const JVM = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xlog:disable'];

function log4j(target: 'SYSTEM_OUT' | 'SYSTEM_ERR', level: 'info' | 'warn'): string {
  return `status = error
appender.console.type = Console
appender.console.name = console
appender.console.target = ${target}
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = ${level}
rootLogger.appenderRef.console.ref = console
logger.config.name = org.apache.kafka.common.config.AbstractConfig
logger.config.level = warn
`;
}

function java(kafka: KafkaHome, heap: readonly string[], loggingFile: string, mainClass: string): string[] {
  const archive = `-XX:SharedArchiveFile=${kafka.archive}`;
  return [
    ...heap,
    ...JVM,
    archive,
    `-Dlog4j2.configurationFile=${loggingFile}`,
    '-cp',
    kafka.classPath,
    mainClass,
  ];
}

/** Arguments of `java` for a broker; its files go to the directory. */
export function brokerJava(kafka: KafkaHome, directory: string, heapMb: number): string[] {
  const logging = join(directory, 'broker-log4j.properties');
  writeFileSync(logging, log4j('SYSTEM_OUT', 'info'));
  return java(kafka, ['-Xms64m', `-Xmx${heapMb}m`], logging, 'kafka.Kafka');
}

/** Arguments of `java` for a command-line tool: results on standard output, complaints on standard error. */
export function toolJava(kafka: KafkaHome, directory: string, mainClass: string): string[] {
  const logging = join(directory, 'tool-log4j.properties');
  writeFileSync(logging, log4j('SYSTEM_ERR', 'warn'));
  return java(kafka, ['-Xms32m', '-Xmx256m'], logging, mainClass);
}
