import { createRequire } from 'node:module';
import { loadSync, type MessageTypeDefinition, type PackageDefinition } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';

/** A message of a described file, as far as maps go. */
interface DescribedMessage {
  name: string;
  readonly field: readonly { typeName: string }[];
  readonly nestedType: readonly DescribedMessage[];
  readonly options?: { readonly mapEntry?: boolean } | null;
}

interface DescribedFile {
  readonly messageType: readonly DescribedMessage[];
}

/** The library's own codec of descriptions. */
interface Codec {
  decode(bytes: Uint8Array): DescribedFile;
  encode(file: DescribedFile): { finish(): Uint8Array };
}

/**
 * The schema of the health service as reflection may tell it. What describes it calls the entries of a map by the field's
 * name, where every reader insists on `<Field>Entry` and else takes nothing of the file
 * (https://github.com/fullstorydev/grpcurl/issues/519).
 */
export function healthSchema(): PackageDefinition {
  const require = createRequire(import.meta.url);
  // The copy that the reflection library itself reads descriptions with.
  const ofReflection = createRequire(require.resolve('@grpc/reflection'));
  const codec = (ofReflection('protobufjs/ext/descriptor') as { FileDescriptorProto: Codec })
    .FileDescriptorProto;
  const definitions = Object.entries(loadSync(protoPath, { keepCase: true })).map(([name, definition]) => {
    if (!isMessage(definition)) return [name, definition];
    const fileDescriptorProtos = definition.fileDescriptorProtos.map((bytes) => {
      const file = codec.decode(bytes);
      for (const message of file.messageType) nameMapEntries(message);
      return Buffer.from(codec.encode(file).finish());
    });
    return [name, { ...definition, fileDescriptorProtos }];
  });
  return Object.fromEntries(definitions) as PackageDefinition;
}

function isMessage(
  definition: PackageDefinition[string],
): definition is MessageTypeDefinition<object, object> {
  return 'fileDescriptorProtos' in definition;
}

function nameMapEntries(message: DescribedMessage): void {
  for (const nested of message.nestedType) {
    if (nested.options?.mapEntry !== true || nested.name.endsWith('Entry')) continue;
    const name = `${nested.name}Entry`;
    for (const field of message.field) if (field.typeName === nested.name) field.typeName = name;
    nested.name = name;
  }
}
