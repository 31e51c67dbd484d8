import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

const PROTO = fileURLToPath(new URL('../../proto/statesvc.proto', import.meta.url));

/**
 * The contract as the gRPC library reads it: names as written, absent fields filled in, and a choice told by its name, so
 * that an empty or false result is a result.
 */
export function loadDefinition(): PackageDefinition {
  return loadSync(PROTO, { keepCase: true, oneofs: true, defaults: true });
}

/** The service of the contract in its definition. */
export function stateServiceOf(definition: PackageDefinition): ServiceDefinition {
  return definition['statesvc.StateService'] as ServiceDefinition;
}
