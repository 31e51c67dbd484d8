import { createRequire } from 'node:module';
import type {
  handleBidiStreamingCall,
  Server,
  ServerDuplexStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type * as Reflection from '@grpc/reflection';
import { healthSchema } from './health-schema.ts';

/** The one method of the protocol, in the versions that clients speak. */
const PATHS = [
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
] as const;

interface Method {
  definition: ServiceDefinition[string];
  handle: handleBidiStreamingCall<unknown, unknown>;
}

/**
 * Tells clients the contract, what is served besides, and the health service. What answers them is loaded when the first one asks: few ever do, and it takes a fifth of
 * the daemon's start.
 */
export function serveReflection(server: Server, definition: PackageDefinition): void {
  let methods: ReadonlyMap<string, Method> | undefined;
  const methodAt = (path: string): Method => {
    methods ??= loadMethods(definition);
    const method = methods.get(path);
    if (method === undefined) throw new Error(`the reflection library does not serve ${path}`);
    return method;
  };
  for (const path of PATHS)
    server.register<unknown, unknown>(
      path,
      (call: ServerDuplexStream<unknown, unknown>) => methodAt(path).handle(call),
      (answer) => methodAt(path).definition.responseSerialize(answer),
      (bytes) => methodAt(path).definition.requestDeserialize(bytes),
      'bidi',
    );
}

function loadMethods(definition: PackageDefinition): ReadonlyMap<string, Method> {
  // Not by an import, which a call that has begun could not wait for.
  const { ReflectionService } = createRequire(import.meta.url)('@grpc/reflection') as typeof Reflection;
  const methods = new Map<string, Method>();
  const collector = {
    addService(service: ServiceDefinition, implementation: UntypedServiceImplementation) {
      for (const [name, method] of Object.entries(service)) {
        const handle = implementation[method.originalName ?? ''] ?? implementation[name];
        if (handle === undefined) continue;
        methods.set(method.path, {
          definition: method,
          handle: handle as handleBidiStreamingCall<unknown, unknown>,
        });
      }
    },
  };
  new ReflectionService({ ...definition, ...healthSchema() }).addToServer(collector);
  return methods;
}
