/** JSON as it comes out of a document. */
type Json = Readonly<Record<string, unknown>>;

interface Operation {
  summary?: string;
  tags?: readonly string[];
  parameters?: readonly { name: string; in: string; required?: boolean; schema?: Json }[];
  requestBody?: { content: Readonly<Record<string, { schema: Json }>> };
  responses?: Readonly<
    Record<string, { description?: string; content?: Readonly<Record<string, { schema: Json }>> }>
  >;
}

/** An OpenAPI document, as far as it is read here. */
export interface OpenApi {
  info: Json;
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * An OpenAPI 3.1 document as Swagger 2.0, which tools of the reference's users read at `/swagger.v1.json`. What 2.0
 * cannot say becomes less exact: of several types the first one stands, what may be null has `x-nullable`.
 * @param basePath what stands before the paths, a path of a proxy included
 */
export function toSwaggerTwo({ info, paths }: OpenApi, basePath: string): Json & { paths: Json } {
  return {
    swagger: '2.0',
    info: {
      title: info['title'],
      description: info['description'],
      version: info['version'],
      license: { name: 'MIT' },
    },
    basePath,
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: {
      AuthorizationHeaderToken: { type: 'apiKey', name: 'Authorization', in: 'header' },
    },
    security: [{ AuthorizationHeaderToken: [] }],
    paths: mapValues(paths, (operations) => mapValues(operations, operationOf)),
  };
}

function operationOf({ summary, tags, parameters = [], requestBody, responses = {} }: Operation): Json {
  const body = Object.entries(requestBody?.content ?? {})[0];
  const isForm = body?.[0] === 'multipart/form-data';
  return {
    ...(summary === undefined ? {} : { summary }),
    ...(tags === undefined ? {} : { tags }),
    ...(isForm ? { consumes: ['multipart/form-data'] } : {}),
    parameters: [
      ...parameters.map(({ name, in: place, required = false, schema = {} }) => ({
        name,
        in: place,
        required: place === 'path' || required,
        ...plainType(schema),
      })),
      ...(body === undefined || isForm
        ? []
        : [{ name: 'body', in: 'body', schema: schemaOf(body[1].schema) }]),
    ],
    responses: mapValues(responses, ({ description = '', content = {} }) => {
      const [answer] = Object.values(content);
      return { description, ...(answer === undefined ? {} : { schema: schemaOf(answer.schema) }) };
    }),
  };
}

/** A parameter outside of bodies has no schema but a type. */
function plainType(schema: Json): Json {
  const { type = 'string', items, enum: values } = schemaOf(schema);
  if (type === 'array') return { type, items: plainType((items ?? {}) as Json), collectionFormat: 'multi' };
  return { type: type === 'object' ? 'string' : type, ...(Array.isArray(values) ? { enum: values } : {}) };
}

function schemaOf(schema: Json): Json {
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  if (choices !== undefined) {
    const others = choices.filter((choice) => choice['type'] !== 'null');
    const first = schemaOf(others[0] ?? {});
    return others.length < choices.length ? { ...first, 'x-nullable': true } : first;
  }
  const types = [schema['type'] ?? []].flat();
  const type = types.find((one) => one !== 'null');
  const { properties, items, required, description, format } = schema;
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  return {
    ...(type === undefined ? {} : { type }),
    ...(types.includes('null') ? { 'x-nullable': true } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof format === 'string' ? { format } : {}),
    ...(Array.isArray(values) ? { enum: values } : {}),
    ...(properties === undefined
      ? {}
      : { properties: mapValues(properties as Readonly<Record<string, Json>>, schemaOf) }),
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
    ...(type === 'array' ? { items: schemaOf((items ?? {}) as Json) } : {}),
  };
}

function mapValues<Value, Result>(
  object: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
