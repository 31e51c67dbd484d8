import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

const FILES = ['statesvc', 'stateextras'].map((name) =>
  fileURLToPath(new URL(`../../proto/${name}.proto`, import.meta.url)),
);

/**
 * The contract, and what we serve besides, as the gRPC library reads it: names as written, absent fields filled in, and a
 * choice told by its name, so that an empty or false result is a result. Counts are numbers, kinds are words.
 */
export function loadDefinition(): PackageDefinition {
  return loadSync(FILES, {
    keepCase: true,
    oneofs: true,
    defaults: true,
    longs: Number,
    enums: String,
  });
}

/** The service of the contract in its definition. */
export function stateServiceOf(definition: PackageDefinition): ServiceDefinition {
  return definition['statesvc.StateService'] as ServiceDefinition;
}

/** What is served besides the contract. */
export function stateExtrasOf(definition: PackageDefinition): ServiceDefinition {
  return definition['statesvc.StateExtras'] as ServiceDefinition;
}
