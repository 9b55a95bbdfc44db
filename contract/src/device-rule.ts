import { z } from 'zod';
import { newRuleSchema, ruleSchema } from './firewall.ts';
import { ADDRESSES_MAXIMUM, PORT_MAXIMUM, PORTS_MAXIMUM, type Span } from './firewall-grammar.ts';
import { FAMILIES, protocolsOf, type Reach, reachOf } from './firewall-shapes.ts';
import { type Family, parseIp, printIp } from './ip-address.ts';

/**
 * A rule as a device receives it: the parts that decide about packets. The server parses the fields that a person typed and sends the resulting traffic, so that a
 * device needs no parser. Agents of earlier versions receive the typed fields until their capabilities have `parsed_rules`. A device removes a temporary rule
 * itself when the server's clock reaches `expires_at`.
 */

const NOT_A_SPAN = 'Give spans that are in order and apart, of one address family.';

/** First and last address of each span. The pairs are arrays, because every page would have to load `z.tuple`. */
const addressSpansSchema = z.array(z.array(z.string().max(64)).min(2).max(2)).max(ADDRESSES_MAXIMUM);
const portSchema = z.int().min(1).max(PORT_MAXIMUM);
const sidesSchema = z.object({ sources: addressSpansSchema.min(1), destinations: addressSpansSchema.min(1) });
const trafficSchema = z.object({
  /** Null if the rule has no addresses of the family. */
  ipv4: sidesSchema.nullable(),
  ipv6: sidesSchema.nullable(),
  /** First and last port of each span; null for all ports and for traffic without ports. */
  ports: z.array(z.array(portSchema).min(2).max(2)).min(1).max(PORTS_MAXIMUM).nullable(),
});
type Traffic = z.infer<typeof trafficSchema>;

const decidingSchema = ruleSchema.pick({ id: true, direction: true, action: true, protocol: true, expires_at: true });

const typedRuleSchema = ruleSchema
  .pick({
    ...{ id: true, direction: true, action: true, protocol: true, expires_at: true },
    ...{ source_ip: true, destination_ip: true, port: true },
  })
  .superRefine((rule, context) => {
    const read = newRuleSchema.safeParse({ ...rule, rule_name: 'rule' });
    for (const issue of read.error?.issues ?? []) context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
  });

const parsedRuleSchema = decidingSchema
  .extend({ traffic: trafficSchema })
  .refine(
    ({ traffic, protocol }) => spansOf(traffic) !== undefined && (traffic.ports === null || protocol !== 'icmp'),
    NOT_A_SPAN,
  );

export type TypedRule = z.infer<typeof typedRuleSchema>;
export const deviceRuleSchema = z.union([parsedRuleSchema, typedRuleSchema]);
export type DeviceRule = z.infer<typeof deviceRuleSchema>;

/** Returns the spans if they are valid, sorted and not adjacent; otherwise undefined. */
function inOrder(spans: readonly (Span | undefined)[]): Span[] | undefined {
  const read: Span[] = [];
  for (const span of spans) {
    const before = read.at(-1);
    if (span === undefined || span.to < span.from || (before !== undefined && span.from <= before.to + 1n)) return undefined;
    read.push(span);
  }
  return read;
}

function addressSpans(pairs: readonly (readonly string[])[], family: Family): Span[] | undefined {
  return inOrder(
    pairs.map(([first = '', last = '']) => {
      const [from, to] = [parseIp(first), parseIp(last)];
      return from?.family === family && to?.family === family ? { from: from.value, to: to.value } : undefined;
    }),
  );
}

/** The spans of a rule's traffic as numbers; undefined if they are invalid. */
function spansOf({ ipv4, ipv6, ports }: Traffic): Pick<Reach, 'sources' | 'destinations' | 'ports'> | undefined {
  const [sources4, destinations4] = [addressSpans(ipv4?.sources ?? [], 4), addressSpans(ipv4?.destinations ?? [], 4)];
  const [sources6, destinations6] = [addressSpans(ipv6?.sources ?? [], 6), addressSpans(ipv6?.destinations ?? [], 6)];
  const port_spans = ports === null ? null : inOrder(ports.map(([from = 0, to = 0]) => ({ from: BigInt(from), to: BigInt(to) })));
  if (!sources4 || !destinations4 || !sources6 || !destinations6 || port_spans === undefined) return undefined;
  return { sources: { 4: sources4, 6: sources6 }, destinations: { 4: destinations4, 6: destinations6 }, ports: port_spans };
}

const NOTHING = { protocols: [], sources: { 4: [], 6: [] }, destinations: { 4: [], 6: [] }, ports: [] };

/** The traffic of a device's rule; empty if it is invalid. */
export function reachOfDevice(rule: DeviceRule): Reach<DeviceRule> {
  if (!('traffic' in rule)) return reachOf(rule);
  const spans = spansOf(rule.traffic);
  return spans === undefined ? { rule, ...NOTHING } : { rule, protocols: protocolsOf(rule, spans.ports), ...spans };
}

/** Converts a person's rule for a device. `is_parsed`: the device's agent reads `traffic`. */
export function deviceRuleOf(rule: TypedRule, is_parsed: boolean): DeviceRule {
  const { id, direction, action, protocol, expires_at, source_ip, destination_ip, port } = rule;
  const deciding = { id, direction, action, protocol, expires_at };
  if (!is_parsed) return { ...deciding, source_ip, destination_ip, port };
  const { sources, destinations, ports } = reachOf(rule);
  const [ipv4 = null, ipv6 = null] = FAMILIES.map((family) => {
    const printed = (spans: readonly Span[]) =>
      spans.map(({ from, to }) => [printIp({ family, value: from }), printIp({ family, value: to })]);
    return sources[family].length === 0
      ? null
      : { sources: printed(sources[family]), destinations: printed(destinations[family]) };
  });
  const numbers = ports?.map(({ from, to }) => [Number(from), Number(to)]) ?? null;
  return { ...deciding, traffic: { ipv4, ipv6, ports: numbers } };
}

/** The fields that the hash of the rules covers. */
export const canonicalRule = (rule: DeviceRule) => [
  ...[rule.id, rule.direction, rule.action, rule.protocol],
  ...('traffic' in rule ? [rule.traffic] : [rule.source_ip, rule.destination_ip, rule.port]),
  rule.expires_at,
];
