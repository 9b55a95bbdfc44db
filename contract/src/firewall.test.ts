import { describe, expect, test } from 'vitest';
import { newRuleSchema, RULE_DEFAULTS, RULES_MAXIMUM, ruleFileSchema, setRuleEnabled } from './firewall.ts';

const NEW = { rule_name: 'Web server', ...RULE_DEFAULTS };
const errorsOf = (input: unknown) =>
  newRuleSchema.safeParse(input).error?.issues.map(({ path, message }) => [path.join('.'), message]);

describe('a new rule', () => {
  // proves: product-1.9-1
  test('has the defaults of the specification beside its name', () => {
    expect(newRuleSchema.parse({ rule_name: 'Only a name', extra: 'x', enabled: false })).toEqual({
      ...{ rule_name: 'Only a name', direction: 'inbound', action: 'allow', protocol: 'tcp' },
      ...{ source_ip: '*', destination_ip: '*', port: '*' },
    });
  });

  test('is stored as typed, without the blanks around it; the ways to say "every" are one', () => {
    const typed = {
      ...{ rule_name: '  Büro  <b>“office”</b> ', source_ip: ' 2001:DB8:0:0::1 , 2001:db8::/32 ' },
      ...{ destination_ip: ' Any ', port: ' 80, 8000 - 8100 ' },
    };
    expect(newRuleSchema.parse({ ...NEW, ...typed })).toMatchObject({
      ...{ rule_name: 'Büro  <b>“office”</b>', source_ip: '2001:DB8:0:0::1 , 2001:db8::/32' },
      ...{ destination_ip: '*', port: '80, 8000 - 8100' },
    });
    const every = { protocol: 'icmp', source_ip: '', destination_ip: '   ', port: 'ANY' };
    expect(newRuleSchema.parse({ ...NEW, ...every })).toMatchObject({ source_ip: '*', destination_ip: '*', port: '*' });
  });

  test('names each of its devices once', () => {
    const [first, second] = ['01930000-0000-7000-8000-000000000000', '01930000-0000-7000-8000-000000000001'];
    expect(newRuleSchema.parse({ ...NEW, device_ids: [second, first, second] }).device_ids).toEqual([first, second]);
  });

  test.each([
    ['rule_name', '   ', 'Enter a rule name.'],
    ['rule_name', 'x'.repeat(101), 'Use at most 100 characters for the rule name.'],
    ['rule_name', 'a\u0000b', 'Remove the control characters from the rule name.'],
    ['rule_name', 'a\ud800', 'Remove the control characters from the rule name.'],
    ['rule_name', 7, 'Enter a rule name.'],
    ['rule_name', undefined, 'Enter a rule name.'],
    ['direction', 'sideways', 'Choose inbound or outbound.'],
    ['direction', null, 'Choose inbound or outbound.'],
    ['action', 'ALLOW', 'Choose allow or block.'],
    ['protocol', 'sctp', 'Choose tcp, udp, icmp, or all.'],
    ['source_ip', 'example.com', 'Enter an IP address like 192.168.1.10, not a host name: example.com'],
    ['source_ip', '10.0.0.9-10.0.0.1', 'Start the range with the lower number: 10.0.0.9-10.0.0.1'],
    ['source_ip', Array(65).fill('10.0.0.1').join(), 'A list can have at most 64 entries. This one has 65.'],
    ['source_ip', 'x'.repeat(7_000), 'Use at most 6500 characters.'],
    ['source_ip', 'x'.repeat(100_000), 'Use at most 8192 characters.'],
    ['source_ip', null, 'Enter text, or * for every value.'],
    ['destination_ip', ['10.0.0.1'], 'Enter text, or * for every value.'],
    ['port', '8100-8000', 'Start the range with the lower number: 8100-8000'],
    ['port', '1e309', 'A port is a whole number from 1 to 65535: 1e309'],
    ['port', 443, 'Enter text, or * for every value.'],
    ['port', Array(33).fill('1').join(), 'A list can have at most 32 entries. This one has 33.'],
    ['lasts', 'week', 'Choose an hour or a day.'],
  ])('with the %s %j is refused with a right value', (field, value, message) => {
    expect(errorsOf({ ...NEW, [field]: value })).toEqual([[field, message]]);
  });

  test('of ICMP with a port is refused at the port, of two families at the destination', () => {
    expect(errorsOf({ ...NEW, protocol: 'icmp', port: '7' })).toEqual([['port', 'ICMP has no ports. Leave the port as *.']]);
    expect(errorsOf({ ...NEW, source_ip: '10.0.0.1', destination_ip: '::1' })).toEqual([
      ['destination_ip', 'The source is IPv4, so use IPv4 or * for the destination instead of IPv6.'],
    ]);
  });
});

test.each([{ enabled: 'false' }, { enabled: 0 }, { enabled: null }, {}])('%j does not enable or disable', (body) => {
  expect(setRuleEnabled.body?.safeParse(body).error?.issues[0]?.message).toBe('Choose true or false.');
});

test.each([
  [{ palisade_rules: 1, rules: [] }, 'This file has no rules.'],
  [{ rules: [NEW] }, 'This isn’t a Palisade rules file. Choose a file exported from Palisade.'],
  [{ palisade_rules: 1, rules: Array(RULES_MAXIMUM + 1).fill(NEW) }, 'A file can have at most 1000 rules.'],
])('a file is refused: %#', (file, message) => {
  expect(ruleFileSchema.safeParse(file).error?.issues[0]?.message).toBe(message);
});
