import { z } from 'zod';

const operationSchema = z.looseObject({
  tags: z.array(z.string()).optional(),
  parameters: z.array(z.record(z.string(), z.unknown())).optional(),
  security: z.array(z.unknown()).optional(),
  responses: z.record(z.string(), z.record(z.string(), z.unknown())),
});
const documentSchema = z.looseObject({
  openapi: z.string(),
  info: z.unknown(),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.infer<typeof documentSchema>;
type Operation = z.infer<typeof operationSchema>;

/** Refusals that follow from the kind of a call: with a session, with a body, or any. */
const COMMON =
  /^(?:`(?:too_many_requests|internal|storage_full|malformed|too_large|unsupported_media_type|two_factor_setup_required|invalid_field)`: [^\n]*\s*)+$/;

const SCHEMAS = '#/components/schemas/';
/** Formats for which zod's expression of 300 characters is omitted, because the format says the same. */
const SAID_BY_FORMAT = new Set(['date-time', 'uuid', 'email', 'date', 'ipv4', 'ipv6']);

/** Minimum length of a schema, in characters, to be extracted and named when it repeats. */
const REPEATED_LENGTH = 75;
/** Keywords between a field and its schema. */
const WORDS_OF_SCHEMAS = new Set([
  'schema',
  'items',
  'anyOf',
  'oneOf',
  'properties',
  'content',
  'application/json',
  'responses',
  'requestBody',
  'get',
  'post',
  'put',
  'patch',
  'delete',
  '200',
  '201',
  'parameters',
]);

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Applies `change` to each object in a value, the innermost first. */
function changeObjects(value: Json, change: (object: { [key: string]: Json }) => Json): Json {
  if (Array.isArray(value)) return value.map((one) => changeObjects(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changeObjects(one, change)])));
}

/** The JSON part of a value. */
function plainOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return z.json().parse(value);
  const given = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(given.map(([key, one]) => [key, plainOf(one)]));
}

/** Removes limits that every whole number has, patterns that the format implies, and `additionalProperties: false`. */
function withoutNoise(object: { [key: string]: Json }): Json {
  const isSaid = typeof object['format'] === 'string' && SAID_BY_FORMAT.has(object['format']);
  const isNoise = (key: string, value: Json) =>
    ((key === 'pattern' || key === 'maxLength') && isSaid && typeof value !== 'object') ||
    (key === 'required' && value === false) ||
    (key === 'additionalProperties' && value === false) ||
    ((key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);
  return Object.fromEntries(
    Object.entries(object)
      .filter(([key, value]) => !isNoise(key, value))
      .map(([key, value]) => [key, value === 'Default Response' ? 'Done.' : value]),
  );
}

const isSchema = (object: { [key: string]: Json }) =>
  typeof object['type'] === 'string' || Array.isArray(object['anyOf']) || Array.isArray(object['oneOf']);

const pascal = (name: string) => name.replaceAll(/(?:^|[^a-zA-Z\d]+)([a-zA-Z\d])/g, (_, letter: string) => letter.toUpperCase());

/** Extracts each schema that occurs twice from `parts`, and names it after the field where it was first found. */
function takeOutRepeated(parts: Json, taken: ReadonlySet<string>): { left: Json; schemas: Map<string, Json> } {
  const counts = new Map<string, number>();
  changeObjects(parts, (object) => {
    const text = JSON.stringify(object);
    if (text.length >= REPEATED_LENGTH && isSchema(object)) counts.set(text, (counts.get(text) ?? 0) + 1);
    return object;
  });
  const names = new Map<string, string>();
  const schemas = new Map<string, Json>();
  function nameOf(text: string, field: string): string {
    const known = names.get(text);
    if (known !== undefined) return known;
    let name = pascal(field);
    for (let count = 2; taken.has(name) || schemas.has(name); count += 1) name = `${pascal(field)}${count}`;
    names.set(text, name);
    return name;
  }
  function take(value: Json, field: string, is_named: boolean): Json {
    if (Array.isArray(value)) return value.map((one) => take(one, field, false));
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const inside = () =>
      Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, take(one, WORDS_OF_SCHEMAS.has(key) ? field : key, false)]),
      );
    if (is_named || !isSchema(value) || (counts.get(text) ?? 0) < 2 || text.includes('"binary"')) return inside();
    const name = nameOf(text, field);
    if (!schemas.has(name)) {
      schemas.set(name, null);
      schemas.set(name, inside());
    }
    return { $ref: SCHEMAS + name };
  }
  const left = Object.fromEntries(
    Object.entries(z.record(z.string(), z.json()).parse(parts)).map(([group, members]) => [
      group,
      Object.fromEntries(
        Object.entries(z.record(z.string(), z.json()).parse(members)).map(([key, one]) => [
          key,
          take(one, key, group === 'schemas'),
        ]),
      ),
    ]),
  );
  return { left, schemas };
}

/** Names of the schemas that a value refers to, directly or through other schemas. */
function reachable(value: unknown, schemas: Record<string, unknown>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reachable(schemas[name] ?? {}, schemas, found);
  }
  return found;
}

/** Extracts answers that several calls share, and turns refusals that many calls share into their default: every call has seven or more. */
function shareAnswers({ paths }: Document): Record<string, unknown> {
  const shared = new Map<string, { name: string; answer: unknown }>();
  const share = (answer: unknown, name: string) => {
    const text = JSON.stringify(answer);
    let free = name;
    for (let count = 2; [...shared.values()].some((one) => one.name === free); count += 1) free = `${name}${count}`;
    const known = shared.get(text) ?? { name: free, answer };
    shared.set(text, known);
    return { $ref: `#/components/responses/${known.name}` };
  };
  const content = { 'application/problem+json': { schema: { $ref: `${SCHEMAS}Problem` } } };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const given = Map.groupBy(
    operations.flatMap(({ responses }) => Object.values(responses)),
    (answer) => JSON.stringify(answer),
  );
  for (const { responses } of operations) {
    const refusals = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
    const common = refusals.filter(([, { description }]) => COMMON.test(String(description)));
    // Some readers require at least one 4xx answer.
    const has_own = refusals.some((refusal) => refusal[0].startsWith('4') && !common.includes(refusal));
    for (const [status] of common) if (has_own || status !== '429') delete responses[status];
    const description = common.map(([, answer]) => String(answer['description'])).join('\n\n');
    for (const [status, answer] of Object.entries(responses)) {
      const codes = [...String(answer['description']).matchAll(/^`(\w+)`/gm)].map(([, code]) => code);
      const code = codes.at(-1);
      if (code !== undefined) responses[status] = share(answer, code);
      else if ((given.get(JSON.stringify(answer)) ?? []).length > 1) responses[status] = share(answer, 'done');
    }
    responses['default'] = share({ description, content }, 'any');
  }
  return Object.fromEntries([...shared.values()].map(({ name, answer }) => [name, answer]));
}

/** Extracts each parameter that several calls share. */
function shareParameters({ paths }: Document): Record<string, unknown> {
  const all = Object.values(paths).flatMap((path) => Object.values(path));
  const counts = Map.groupBy(
    all.flatMap(({ parameters = [] }) => parameters.map((one) => JSON.stringify(one))),
    (text) => text,
  );
  const shared = new Map<string, { name: string; parameter: unknown }>();
  for (const operation of all) {
    operation.parameters = operation.parameters?.map((parameter) => {
      const text = JSON.stringify(parameter);
      if ((counts.get(text) ?? []).length < 2) return parameter;
      const name = String(parameter['name']);
      const same = [...shared.values()].filter((one) => one.name.replace(/\d+$/, '') === name).length;
      const known = shared.get(text) ?? { name: same === 0 ? name : `${name}${same + 1}`, parameter };
      shared.set(text, known);
      return { $ref: `#/components/parameters/${known.name}` };
    });
    if (operation.parameters === undefined) delete operation.parameters;
  }
  return Object.fromEntries([...shared.values()].map(({ name, parameter }) => [name, parameter]));
}

/** Turns the plugin's document into an API description for other programs: operations get names, tags get sentences, and shared parts are written once. */
export function shapeDescription(
  written: object,
  { names, tags }: { names: ReadonlyMap<string, string>; tags: Readonly<Record<string, string>> },
): object {
  const document = documentSchema.parse(changeObjects(plainOf(written), withoutNoise));
  const responses = shareAnswers(document);
  const parameters = shareParameters(document);
  const used = new Set<string>();
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]): [string, Operation] => {
          for (const tag of operation.tags ?? []) used.add(tag);
          if (operation.security?.length !== 0) delete operation.security;
          const operationId = names.get(`${method.toUpperCase()} ${path.replace(/^\/api/, '')}`);
          return [method, operationId === undefined ? operation : { operationId, ...operation }];
        }),
      ),
    ]),
  );
  const { schemas } = document.components;
  // If the input and output forms of a schema are equal, it is written once.
  const same = new Map(
    Object.keys(schemas).flatMap((name) => {
      const answered = name.replace(/Input$/, '');
      return answered !== name && isSame(schemas[name], schemas[answered]) ? [[SCHEMAS + name, SCHEMAS + answered]] : [];
    }),
  );
  const merge = (value: unknown) =>
    changeObjects(z.json().parse(value), (object) => {
      const to = typeof object['$ref'] === 'string' ? same.get(object['$ref']) : undefined;
      return to === undefined ? object : { ...object, $ref: to };
    });
  const merged = z.record(z.string(), z.unknown()).parse(merge(schemas));
  const kept = reachable([merge(paths), responses, parameters], merged);
  const used_schemas = Object.fromEntries(Object.entries(merged).filter(([name]) => kept.has(name)));
  const parts = z.json().parse({ paths: merge(paths), schemas: used_schemas });
  const repeated = takeOutRepeated(parts, kept);
  const left = z.object({ paths: z.json(), schemas: z.record(z.string(), z.json()) }).parse(repeated.left);
  const { openapi, info, ...rest } = document;
  return {
    openapi,
    info,
    ...rest,
    tags: [...used].sort().map((name) => ({ name, description: tags[name] ?? name })),
    security: [{ bearer: [] }],
    paths: left.paths,
    components: {
      ...document.components,
      responses,
      parameters,
      schemas: { ...left.schemas, ...Object.fromEntries(repeated.schemas) },
    },
  };
}

/** Whether two schemas are equal apart from the names of their references. */
function isSame(sent: unknown, answered: unknown): boolean {
  const plain = (schema: unknown) => JSON.stringify(schema).replaceAll(/(#\/components\/schemas\/\w+?)Input"/g, '$1"');
  return answered !== undefined && plain(sent) === plain(answered);
}
