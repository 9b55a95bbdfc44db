import { type BlockedSource, countRules, listBlocked, listDevices } from '@palisade/contract/devices';
import type { Endpoint } from '@palisade/contract/endpoint';
import {
  addRule,
  deleteRule,
  editRule,
  importRules,
  listRevisions,
  listRules,
  type NewRule,
  type Revision,
  type Rule,
  setRuleEnabled,
  undoRevision,
} from '@palisade/contract/firewall';
import { readConfig } from '@palisade/contract/platform';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceOf } from '#api/fake-devices.ts';
import { CONFIG } from '#api/fake-records.ts';
import { FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ruleOf } from './fake-rules.ts';
import { FirewallPage } from './firewall-page.tsx';

let server: FakeServer;
const log = () => vi.spyOn(console, 'error').mockReturnValue();

beforeEach(() => {
  server = new FakeServer();
  server.on(readConfig, reply(readConfig, CONFIG));
  server.on(listDevices, reply(listDevices, []));
});

/** The call for one rule, at its own address. */
function at<E extends Endpoint>(endpoint: E, rule: { id: string }): E {
  return { ...endpoint, path: endpoint.path.replace('{id}', rule.id) };
}

function open(...rules: Rule[]) {
  answerRules(rules);
  renderForTest(<FirewallPage />);
  return userEvent.setup();
}

/** Answers the list page by page, as the server does. */
function answerRules(rules: readonly Rule[]) {
  server.on(listRules, (query) => {
    const from = query.has('cursor') ? rules.findIndex(({ id }) => id === query.get('cursor')) + 1 : 0;
    const rows = rules.slice(from, from + Number(query.get('limit')));
    const next = from + rows.length < rules.length ? rows.at(-1)?.id : undefined;
    return page(listRules, rows, { ...(next !== undefined && { next }), ...(from === 0 && { total: rules.length }) });
  });
}

let revs = 0;
function revisionOf(parts: Partial<Revision>): Revision {
  revs += 1;
  return {
    id: `01930000-0000-7000-a000-${String(revs).padStart(12, '0')}`,
    rev: revs,
    kind: 'edited',
    created_at: '2026-11-20T10:00:00.000Z',
    rule_name: 'Office',
    ...{ added: 0, changed: 1, removed: 0 },
    ...parts,
  };
}

const row = async (name: string) => within(await screen.findByRole('row', { name: new RegExp(name, 'u') }));
const status = (name: string) => screen.findByRole('switch', { name: `Status of ${name}` });

describe('the list of rules', () => {
  it('shows that it is loading', () => {
    server.on(listRules, () => new Promise(() => undefined));
    renderForTest(<FirewallPage />);
    expect(screen.getByRole('status', { name: 'Loading the rules' })).toBeVisible();
  });

  it('is empty at first, says what happens without rules, and leads to the first one', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    expect(await screen.findByRole('dialog', { name: 'Add Rule' })).toBeVisible();
    expect(screen.getByText(/would be blocked coming in, and allowed going out/u)).toBeInTheDocument();
  });

  it('says first that nothing applies the rules, and is never teal', async () => {
    open(ruleOf({ rule_name: 'Web', port: '443' }));
    await row('Web');
    const summary = await screen.findByRole('region', { name: 'Nothing applies your rules yet.' });
    expect(summary).toHaveAttribute('data-tone', 'unknown');
    expect(summary).toHaveTextContent('They block nothing until a device with the Palisade agent is connected, and none is.');
  });

  it('says why it could not be read, and reads it on Retry', async () => {
    server.on(listRules, refusal('internal', { detail: 'The server is tired.' }));
    renderForTest(<FirewallPage />);
    expect(await screen.findByRole('alert')).toHaveTextContent('The server is tired.');
    answerRules([ruleOf({ rule_name: 'Found again' })]);
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await status('Found again')).toBeChecked();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('shows of each rule all that the specification names', async () => {
    open(
      ruleOf({ rule_name: 'Office', protocol: 'udp', source_ip: '10.0.0.0/8', port: '53', destination_ip: '10.0.0.1' }),
      ruleOf({ rule_name: 'Six', direction: 'outbound', action: 'block', protocol: 'all', source_ip: '::1', enabled: false }),
    );
    const office = await row('Office');
    expect(office.getByRole('switch')).toBeChecked();
    for (const text of ['Inbound', 'Allow', 'UDP', '10.0.0.0/8:53', '10.0.0.1']) expect(office.getByText(text)).toBeVisible();
    expect(office.getByRole('time')).toHaveAttribute('datetime', '2026-11-20T10:00:00.000Z');
    const six = await row('Six');
    expect(six.getByRole('switch')).not.toBeChecked();
    for (const text of ['Outbound', 'Block', 'All', '[::1]:*', 'Off']) expect(six.getByText(text)).toBeVisible();
    expect((await status('Six')).closest('tr')).toHaveAttribute('data-enabled', 'false');
    expect(screen.getByRole('columnheader', { name: 'Source:Port' })).toBeVisible();
    expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('1of 2 on this account');
  });

  it('shows script as text, and the whole of a long list on demand', async () => {
    const list = Array.from({ length: 20 }, (_, index) => `10.0.0.${index + 1}`).join(', ');
    const user = open(ruleOf({ rule_name: '<b>bold</b>', source_ip: list }));
    expect(await screen.findByText('<b>bold</b>')).toBeVisible();
    expect(screen.queryByText(`${list}:*`)).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Show all' }));
    expect(screen.getByText(`${list}:*`)).toBeVisible();
  });

  it('marks what is odd, says why, and leads to the other rule', async () => {
    const allow = ruleOf({ rule_name: 'Narrow allow', port: '22' });
    const user = open(ruleOf({ rule_name: 'Wide block', action: 'block' }), allow);
    const narrow = await row('Narrow allow');
    expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('2of 2 on this account, 1 needs a look');
    expect(narrow.queryByText(/Another rule blocks all of this traffic/u)).not.toBeInTheDocument();
    await user.click(narrow.getByRole('button', { name: 'Never matches', expanded: false }));
    expect(narrow.getByText(/Another rule blocks all of this traffic/u)).toBeVisible();
    await user.click(screen.getByRole('radio', { name: 'Needs a look 1' }));
    expect(screen.getAllByRole('switch')).toHaveLength(1);
    await user.click(screen.getByRole('radio', { name: 'All 2' }));
    Element.prototype.scrollIntoView = vi.fn();
    await user.click(narrow.getByRole('button', { name: 'Show the other rule: Wide block' }));
    expect((await status('Wide block')).closest('tr')).toHaveFocus();
  });

  it('says in a sentence what each rule does', async () => {
    open(ruleOf({ rule_name: 'RDP', action: 'block', protocol: 'all', port: '3389' }));
    expect((await row('RDP')).getByText('Nobody may reach Remote Desktop on this computer.')).toBeVisible();
  });

  it('says of a temporary rule until when it lasts, or did', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    open(
      ruleOf({ rule_name: 'Still', expires_at: later }),
      ruleOf({ rule_name: 'Over', enabled: false, expires_at: '2026-11-20T10:00:00.000Z' }),
    );
    expect((await row('Still')).getByText(/^Temporary until/u)).toBeVisible();
    expect((await row('Over')).getByText(/^Was temporary until/u)).toBeVisible();
  });

  it('reads thirty of a thousand first, the others when the screen stands, and finds among all of them', async () => {
    const wide = ruleOf({ rule_name: 'Wide block', action: 'block', source_ip: '198.51.100.0/24' });
    const many = Array.from({ length: 997 }, (_, index) => ruleOf({ rule_name: `Rule ${index}`, port: `${1000 + index}` }));
    const narrow = ruleOf({ rule_name: 'Narrow allow', port: '22', source_ip: '198.51.100.7' });
    const off = ruleOf({ rule_name: 'Sleeping', enabled: false });
    const user = open(narrow, ...many, off, wide);
    await row('Narrow allow');
    await waitFor(() => expect(screen.getAllByRole('switch')).toHaveLength(30));
    await waitFor(() => expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('999of 1000'));
    // 30, 500 and 500.
    expect(server.callsOf(listRules)).toHaveLength(3);
    await user.click(screen.getByRole('button', { name: 'Show more (970 left)' }));
    expect(screen.getAllByRole('switch')).toHaveLength(80);

    await user.type(screen.getByLabelText('Search the rules'), 'RULE 99');
    expect(screen.getAllByRole('switch').map((one) => one.getAttribute('aria-label'))).toEqual(
      [99, 990, 991, 992, 993, 994, 995, 996].map((number) => `Status of Rule ${number}`),
    );
    await user.clear(screen.getByLabelText('Search the rules'));
    await user.click(screen.getByRole('radio', { name: 'Off' }));
    expect(screen.getAllByRole('switch')).toHaveLength(1);
    await user.type(screen.getByLabelText('Search the rules'), 'nothing like it');
    expect(screen.getByText('No rule matches')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show all rules' }));

    Element.prototype.scrollIntoView = vi.fn();
    const first = await row('Narrow allow');
    await user.click(first.getByRole('button', { name: 'Never matches' }));
    await user.click(first.getByRole('button', { name: 'Show the other rule: Wide block' }));
    expect((await status('Wide block')).closest('tr')).toHaveFocus();
  });

  it('reads the list anew on Refresh', async () => {
    const user = open();
    await screen.findByText('No firewall rules yet');
    answerRules([ruleOf({ rule_name: 'New' })]);
    await user.click(screen.getByRole('button', { name: 'Refresh' }));
    expect(await status('New')).toBeVisible();
  });
});

describe('the figures', () => {
  it('have the specification’s samples with their mark, and say that nothing is measured', async () => {
    open();
    const blocked = await screen.findByRole('region', { name: 'Blocked Attempts' });
    await waitFor(() => expect(blocked).toHaveTextContent('247'));
    expect(screen.getByRole('region', { name: 'Data Protected' })).toHaveTextContent('2.4GB');
    expect(screen.getByRole('region', { name: 'Status' })).toHaveTextContent('ACTIVE');
    expect(blocked).toHaveTextContent('No device connected');
    const mark = within(blocked).getByRole('button', { name: 'Sample' });
    expect(within(blocked).queryByRole('tooltip')).not.toBeInTheDocument();
    await userEvent.hover(mark);
    expect(within(blocked).getByRole('tooltip')).toHaveTextContent('Nothing measured it.');
    await userEvent.unhover(mark);
    mark.focus();
    expect(await within(blocked).findByRole('tooltip')).toBeVisible();
    await userEvent.keyboard('{Escape}');
    expect(within(blocked).queryByRole('tooltip')).not.toBeInTheDocument();
  });
});

describe('the status of a rule', () => {
  it('sends the new value, and the list changes after the server has', async () => {
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    let answer: (() => void) | undefined;
    server.on(
      at(setRuleEnabled, rule),
      () =>
        new Promise((resolve) => {
          answer = () => resolve(reply(setRuleEnabled, { ...rule, enabled: false }));
        }),
    );
    await user.click(await status('Office'));
    // The second of two clicks comes while the first is on its way.
    await user.click(await status('Office'));
    expect(await status('Office')).toBeChecked();
    answer?.();
    await waitFor(async () => expect(await status('Office')).not.toBeChecked());
    expect(server.callsOf(at(setRuleEnabled, rule)).map(({ body }) => body)).toEqual([{ enabled: false }]);
    expect(server.callsOf(listRules)).toHaveLength(1);
    expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('0of 1');
  });

  it('stays as it was when the server fails, which is logged and said, with a Retry', async () => {
    const logged = log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.lose(at(setRuleEnabled, rule));
    await user.click(await status('Office'));
    expect(await screen.findByRole('alert')).toHaveTextContent('The rule “Office” was not changed');
    expect(await status('Office')).toBeChecked();
    expect(logged).toHaveBeenCalled();
    server.on(at(setRuleEnabled, rule), reply(setRuleEnabled, { ...rule, enabled: false }));
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(async () => expect(await status('Office')).not.toBeChecked());
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('of a rule that is gone takes it from the list', async () => {
    log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(setRuleEnabled, rule), refusal('not_found'));
    await user.click(await status('Office'));
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
    expect(screen.getByText('The rule “Office” was already gone.')).toBeInTheDocument();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});

describe('deleting a rule', () => {
  it('asks, and does nothing on No', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    expect(confirm).toHaveBeenCalledExactlyOnceWith('Are you sure you want to delete this rule?');
    expect(server.callsOf(at(deleteRule, rule))).toHaveLength(0);
  });

  it('takes it from the list, and the focus goes on to the next', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule, ruleOf({ rule_name: 'Home', port: '22' }));
    let answer: (() => void) | undefined;
    server.on(
      at(deleteRule, rule),
      () =>
        new Promise((resolve) => {
          answer = () => resolve(reply(deleteRule, undefined));
        }),
    );
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    await user.click(screen.getByRole('button', { name: 'Delete Office' }));
    expect(confirm).toHaveBeenCalledTimes(1);
    answer?.();
    await waitFor(() => expect(screen.queryByText('Office')).not.toBeInTheDocument());
    expect(server.callsOf(at(deleteRule, rule))).toHaveLength(1);
    expect(screen.getByRole('button', { name: 'Delete Home' })).toHaveFocus();
    expect(screen.getByText('The rule “Office” was deleted.')).toBeInTheDocument();
  });

  it('that is gone already is no failure', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    const logged = log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(deleteRule, rule), refusal('not_found'));
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    expect(await screen.findByRole('button', { name: 'Add First Rule' })).toHaveFocus();
    expect(screen.getByText('The rule “Office” was already gone.')).toBeInTheDocument();
    expect(logged).toHaveBeenCalled();
  });

  it('that fails is logged and said; Retry does not ask again', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    const logged = log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(deleteRule, rule), refusal('internal'));
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The rule “Office” was not deleted');
    expect(logged).toHaveBeenCalled();
    server.on(at(deleteRule, rule), reply(deleteRule, undefined));
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
    expect(confirm).toHaveBeenCalledTimes(1);
  });
});

describe('adding a rule', () => {
  async function dialog(...rules: Rule[]) {
    const user = open(...rules);
    await user.click(await screen.findByRole('button', { name: 'Add Rule' }));
    return { user, form: within(await screen.findByRole('dialog', { name: 'Add Rule' })) };
  }

  it('starts with the specification’s defaults, and sends them', async () => {
    const { user, form } = await dialog();
    expect(form.getByLabelText('Direction')).toHaveValue('inbound');
    expect(form.getByLabelText('Action')).toHaveValue('allow');
    expect(form.getByLabelText('Protocol')).toHaveValue('tcp');
    for (const label of ['Source IP', 'Destination IP', 'Port']) expect(form.getByLabelText(label)).toHaveValue('*');
    expect(form.getByText('Anyone may reach everything over TCP on this computer.')).toBeVisible();
    const made = ruleOf({ rule_name: 'Office' });
    server.on(addRule, reply(addRule, made));
    await user.type(form.getByLabelText('Rule Name'), 'Office{Enter}');
    expect(await status('Office')).toBeChecked();
    expect(server.callsOf(addRule)[0]?.body).toEqual({
      rule_name: 'Office',
      direction: 'inbound',
      action: 'allow',
      protocol: 'tcp',
      source_ip: '*',
      destination_ip: '*',
      port: '*',
    });
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Add Rule' })).toHaveFocus();
  });

  it('shows a rule once that was read anew before the answer to its own call came', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const dialog = within(await screen.findByRole('dialog'));
    const added = ruleOf({ rule_name: 'Web' });
    server.on(addRule, async () => {
      answerRules([added]);
      await user.click(screen.getByRole('button', { name: 'Refresh', hidden: true }));
      expect(await screen.findAllByRole('switch', { name: 'Status of Web', hidden: true })).toHaveLength(1);
      return reply(addRule, added);
    });
    await user.type(dialog.getByLabelText(/^Rule Name/), 'Web');
    await user.click(dialog.getByRole('button', { name: 'Add Rule' }));
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(screen.getAllByRole('switch', { name: 'Status of Web' })).toHaveLength(1);
  });

  it('hints while typing, and says it as an error when the person goes on', async () => {
    const { user, form } = await dialog();
    const port = form.getByLabelText('Port');
    await user.clear(port);
    await user.type(port, '8100-8000');
    expect(form.getByText('The range begins with the higher end. Turn it round: 8100-8000')).toBeVisible();
    expect(port).not.toBeInvalid();
    await user.tab();
    expect(port).toBeInvalid();
    expect(port).toHaveAccessibleDescription('The range begins with the higher end. Turn it round: 8100-8000');
    await user.clear(port);
    await user.type(port, '8000-8100');
    expect(port).toBeValid();
    expect(form.getByText('Anyone may reach ports 8000-8100 over TCP on this computer.')).toBeVisible();
  });

  it('alerts when the server refuses, and shows what it said at the field', async () => {
    const alert = vi.spyOn(window, 'alert').mockReturnValue();
    const { user, form } = await dialog();
    const errors = [{ field: 'source_ip', message: 'Host names are not accepted.' }];
    server.on(addRule, refusal('invalid_field', { errors }));
    await user.type(form.getByLabelText('Rule Name'), 'Office{Enter}');
    await waitFor(() => expect(alert).toHaveBeenCalledExactlyOnceWith('Error adding firewall rule'));
    expect(form.getByLabelText('Source IP')).toHaveAccessibleDescription('Host names are not accepted.');
    expect(form.getByLabelText('Source IP')).toHaveFocus();
    await user.type(form.getByLabelText('Source IP'), ' ');
    expect(form.getByLabelText('Source IP')).toBeValid();
  });

  it('alerts when it fails, and says why in the dialog', async () => {
    const alert = vi.spyOn(window, 'alert').mockReturnValue();
    const { user, form } = await dialog();
    server.lose(addRule);
    await user.type(form.getByLabelText('Rule Name'), 'Office{Enter}');
    await waitFor(() => expect(alert).toHaveBeenCalledExactlyOnceWith('Error adding firewall rule'));
    expect(form.getByRole('alert')).toHaveTextContent('Network error. Please try again.');
    expect(form.getByRole('button', { name: 'Add Rule' })).toBeEnabled();
  });

  it('makes no call without a name', async () => {
    const { user, form } = await dialog();
    expect(form.getByLabelText('Rule Name')).toBeRequired();
    await user.click(form.getByRole('button', { name: 'Add Rule' }));
    expect(server.callsOf(addRule)).toHaveLength(0);
  });

  it('has no port for ICMP, and leaves a typed one behind', async () => {
    const { user, form } = await dialog();
    await user.type(form.getByLabelText('Rule Name'), 'Pings');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '80');
    await user.selectOptions(form.getByLabelText('Protocol'), 'ICMP');
    expect(form.getByLabelText('Port')).toBeDisabled();
    expect(form.getByLabelText('Port')).toHaveAccessibleDescription('ICMP has no ports.');
    server.on(addRule, reply(addRule, ruleOf({ rule_name: 'Pings', protocol: 'icmp' })));
    await user.click(form.getByRole('button', { name: 'Add Rule' }));
    await status('Pings');
    expect(server.callsOf(addRule)[0]?.body).toMatchObject({ protocol: 'icmp', port: '*' });
  });

  it('ends with Escape and with Cancel, and gives the focus back', async () => {
    const { user } = await dialog();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(screen.getByRole('button', { name: 'Add Rule' })).toHaveFocus();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    await user.click(await screen.findByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole('button', { name: 'Add First Rule' })).toHaveFocus();
  });
});

describe('"Would this pass?"', () => {
  async function ask(user: ReturnType<typeof userEvent.setup>, source: string, destination: string, port: string) {
    const form = within(screen.getByRole('region', { name: 'Would this pass?' }));
    for (const [label, text] of Object.entries({ Source: source, Destination: destination, Port: port })) {
      await user.clear(form.getByLabelText(label));
      if (text) await user.type(form.getByLabelText(label), text);
    }
    await user.click(form.getByRole('button', { name: 'Test' }));
    return form;
  }

  it('names the rule that decides, or the default', async () => {
    const user = open(
      ruleOf({ rule_name: 'Web', port: '443' }),
      ruleOf({ rule_name: 'Not him', action: 'block', source_ip: '10.0.0.66' }),
    );
    await status('Web');
    const form = await ask(user, '10.0.0.1', '10.0.0.2', '443');
    expect(form.getByRole('status')).toHaveTextContent('Would be allowed by the rule “Web”');
    await ask(user, '10.0.0.66', '10.0.0.2', '443');
    expect(form.getByRole('status')).toHaveTextContent('Would be blocked by the rule “Not him”');
    await ask(user, '10.0.0.1', '10.0.0.2', '22');
    expect(form.getByRole('status')).toHaveTextContent(
      'Would be blocked by default. What no rule matches would be blocked coming in',
    );
    await user.selectOptions(form.getByLabelText('Direction'), 'Outbound');
    expect(form.getByRole('status')).toBeEmptyDOMElement();
    await user.click(form.getByRole('button', { name: 'Test' }));
    expect(form.getByRole('status')).toHaveTextContent('Would be allowed by default.');
  });

  it('says which field cannot be read', async () => {
    const user = open(ruleOf());
    await status('Web server');
    const form = await ask(user, '', 'home', '443');
    expect(form.getByLabelText('Source')).toHaveAccessibleDescription('Give one address, such as 192.168.1.10.');
    expect(form.getByLabelText('Source')).toHaveFocus();
    expect(form.getByLabelText('Destination')).toBeInvalid();
    expect(form.getByRole('status')).toBeEmptyDOMElement();
  });
});

describe('editing a rule', () => {
  async function edit(rule: Rule, ...others: Rule[]) {
    const user = open(rule, ...others);
    await user.click(await screen.findByRole('button', { name: `Edit ${rule.rule_name}` }));
    return { user, form: within(await screen.findByRole('form', { name: `Edit ${rule.rule_name}` })) };
  }

  it('happens where it stands: the row shows what the server keeps, and the focus goes back', async () => {
    const rule = ruleOf({ rule_name: 'Office', port: '22', enabled: false });
    const { user, form } = await edit(rule);
    expect(form.getByLabelText('Rule Name')).toHaveFocus();
    expect(form.getByLabelText('Port')).toHaveValue('22');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '3389');
    await user.selectOptions(form.getByLabelText('Action'), 'Block');
    expect(form.getByText('Nobody may reach Remote Desktop on this computer.')).toBeVisible();
    const changed: Rule = { ...rule, port: '3389', action: 'block' };
    server.on(at(editRule, rule), reply(editRule, changed));
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('button', { name: 'Edit Office' })).toBeVisible();
    expect((await row('Office')).getByText('*:3389')).toBeVisible();
    expect(server.callsOf(at(editRule, rule))[0]?.body).toEqual({
      ...{ rule_name: 'Office', direction: 'inbound', action: 'block', protocol: 'tcp' },
      ...{ source_ip: '*', destination_ip: '*', port: '3389' },
    });
    await waitFor(() => expect(screen.getByRole('button', { name: 'Edit Office' })).toHaveFocus());
    expect(screen.getByText('The rule “Office” was changed.')).toBeVisible();
  });

  it('ends with Escape and with Cancel, and changes nothing then', async () => {
    const rule = ruleOf({ rule_name: 'Office' });
    const { user } = await edit(rule);
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.getByRole('button', { name: 'Edit Office' })).toHaveFocus());
    await user.click(screen.getByRole('button', { name: 'Edit Office' }));
    await user.click(await screen.findByRole('button', { name: 'Cancel' }));
    expect(await screen.findByRole('button', { name: 'Edit Office' })).toBeVisible();
    expect(server.callsOf(at(editRule, rule))).toHaveLength(0);
  });

  it('shows what the server refuses at the field, and any other failure below', async () => {
    const rule = ruleOf({ rule_name: 'Office' });
    const { user, form } = await edit(rule);
    server.on(at(editRule, rule), refusal('invalid_field', { errors: [{ field: 'port', message: 'Not this port.' }] }));
    await user.click(form.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(form.getByLabelText('Port')).toHaveAccessibleDescription('Not this port.'));
    server.lose(at(editRule, rule));
    await user.type(form.getByLabelText('Port'), '{Backspace}1');
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(await form.findByRole('alert')).toHaveTextContent('Network error. Please try again.');
  });

  it('of a rule that is gone takes it from the list', async () => {
    const rule = ruleOf({ rule_name: 'Office' });
    const { user, form } = await edit(rule);
    server.on(at(editRule, rule), refusal('not_found'));
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
  });

  it('of a temporary one keeps its end, or ends it, as is chosen', async () => {
    const rule = ruleOf({ rule_name: 'Office', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const { user, form } = await edit(rule);
    expect(form.getByLabelText('Lasts')).toHaveDisplayValue('As it is');
    await user.selectOptions(form.getByLabelText('Lasts'), 'Until I switch it off');
    server.on(at(editRule, rule), reply(editRule, { ...rule, expires_at: null }));
    await user.click(form.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(server.callsOf(at(editRule, rule))[0]?.body).toMatchObject({ lasts: null }));
  });
});

describe('before a rule is saved', () => {
  it('the dialog says what it would do among the others', async () => {
    const user = open(ruleOf({ rule_name: 'SSH', port: '22' }), ruleOf({ rule_name: 'Web', port: '443' }));
    await status('SSH');
    await user.click(await screen.findByRole('button', { name: 'Add Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '443');
    expect(await form.findByText('An older rule says exactly the same. One of the two is enough. See “Web”.')).toBeVisible();
    await user.selectOptions(form.getByLabelText('Action'), 'Block');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '*');
    expect(await form.findByText('It leaves nothing to decide for “SSH”, “Web”.')).toBeVisible();
  });

  it('a temporary one says how long it lasts', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    expect(form.getByLabelText('Lasts')).toHaveDisplayValue('Until I switch it off');
    await user.selectOptions(form.getByLabelText('Lasts'), '1 hour');
    server.on(addRule, reply(addRule, ruleOf({ rule_name: 'Guest', expires_at: '2026-11-20T11:00:00.000Z' })));
    await user.type(form.getByLabelText('Rule Name'), 'Guest{Enter}');
    await status('Guest');
    expect(server.callsOf(addRule)[0]?.body).toMatchObject({ lasts: 'hour' });
  });

  it('a preset fills the form, and another press empties it', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    await user.click(form.getByRole('button', { name: /^Block Remote Desktop/u }));
    expect(form.getByLabelText('Rule Name')).toHaveValue('Block Remote Desktop');
    expect(form.getByText('Nobody may reach Remote Desktop on this computer.')).toBeVisible();
    await user.click(form.getByRole('button', { name: /^Allow this game/u }));
    await user.selectOptions(form.getByLabelText('Game'), 'Valheim');
    expect(form.getByLabelText('Port')).toHaveValue('2456-2458');
    expect(form.getByText('Anyone may reach Valheim on this computer.')).toBeVisible();
    await user.click(form.getByRole('button', { name: /^Allow this game/u, pressed: true }));
    expect(form.getByLabelText('Rule Name')).toHaveValue('');
  });

  it('one of several rules is added whole', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    await user.click(form.getByRole('button', { name: /^Only my network may print/u }));
    expect(form.getByText(/^Nobody outside 10\.0\.0\.0\/8/u, { exact: false })).toBeVisible();
    server.on(importRules, reply(importRules, { added: 2, removed: 0 }));
    answerRules([ruleOf({ rule_name: 'Print 6' }), ruleOf({ rule_name: 'Print 4' })]);
    await user.click(form.getByRole('button', { name: 'Add 2 rules' }));
    await status('Print 4');
    const [sent] = server.callsOf(importRules);
    expect(sent?.body).toMatchObject({
      rules: [{ rule_name: 'Only my network may print (IPv4)' }, { rule_name: 'Only my network may print (IPv6)' }],
    });
  });
});

describe('what was done', () => {
  it('can be undone at once', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(deleteRule, rule), reply(deleteRule, undefined));
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    await screen.findByText('The rule “Office” was deleted.');
    const latest = revisionOf({ kind: 'deleted', removed: 1, changed: 0 });
    server.on(listRevisions, reply(listRevisions, [latest]));
    const undo = at(undoRevision, latest);
    server.on(undo, reply(undoRevision, revisionOf({ kind: 'undone' })));
    answerRules([rule]);
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    expect(await status('Office')).toBeVisible();
    expect(server.callsOf(undo)).toHaveLength(1);
    expect(screen.getByText('The change was taken back.')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Undo' })).not.toBeInTheDocument();
  });

  it('stands in the history, each with the way back to before it', async () => {
    const user = open(ruleOf({ rule_name: 'Office' }));
    const revisions = [
      revisionOf({ kind: 'imported', rule_name: null, added: 12, changed: 0, removed: 3 }),
      revisionOf({ kind: 'expired', rule_name: null, changed: 2 }),
      revisionOf({ kind: 'disabled' }),
    ];
    server.on(listRevisions, reply(listRevisions, revisions));
    await user.click(screen.getByRole('button', { name: 'History' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'History of your rules' }));
    for (const text of ['Imported 12 rules in place of 3', '2 rules were temporary and switched off', 'Switched “Office” off'])
      expect(await dialog.findByText(text)).toBeVisible();
    const undo = at(undoRevision, revisions[2] ?? revisionOf({}));
    server.on(undo, refusal('conflict', { detail: 'There is nothing to take back.' }));
    await user.click(dialog.getByRole('button', { name: 'Back to before: Switched “Office” off' }));
    expect(await dialog.findByRole('alert')).toHaveTextContent('There is nothing to take back.');
  });
});

describe('rules as a file', () => {
  const FILE_RULE: NewRule & { enabled: boolean } = {
    ...{ rule_name: 'From a file', direction: 'inbound', action: 'block', protocol: 'tcp' },
    ...{ source_ip: '*', destination_ip: '*', port: '22', enabled: true },
  };
  const fileOf = (content: unknown) => new File([JSON.stringify(content)], 'rules.json', { type: 'application/json' });

  async function dialog(...rules: Rule[]) {
    const user = open(...rules);
    await user.click(screen.getByRole('button', { name: 'Import' }));
    return { user, form: within(await screen.findByRole('dialog', { name: 'Import rules' })) };
  }

  it('are written for another firewall, with what it cannot express', async () => {
    const user = open(ruleOf({ rule_name: 'Ping', protocol: 'icmp' }), ruleOf({ rule_name: 'Web', port: '443' }));
    await status('Web');
    await user.click(screen.getByRole('button', { name: 'For another firewall' }));
    const form = within(await screen.findByRole('dialog', { name: 'Export for another firewall' }));
    expect(form.queryByRole('list')).not.toBeInTheDocument();
    await user.selectOptions(form.getByLabelText('Firewall'), 'Ubuntu: ufw');
    expect(form.getByRole('list', { name: 'Rules that are not in the file' })).toHaveTextContent('ufw has no rules about ICMP.');
    await user.selectOptions(form.getByLabelText('Firewall'), 'Windows: PowerShell');
    expect(form.queryByRole('list')).not.toBeInTheDocument();
  });

  it('are exported all, and read again', async () => {
    const saved: Blob[] = [];
    vi.stubGlobal(
      'URL',
      Object.assign(URL, { createObjectURL: (blob: Blob) => `blob:${saved.push(blob)}`, revokeObjectURL: vi.fn() }),
    );
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    const many = Array.from({ length: 40 }, (_, index) => ruleOf({ rule_name: `Rule ${index}`, enabled: index > 0 }));
    const user = open(...many);
    await row('Rule 0');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    await waitFor(() => expect(saved).toHaveLength(1));
    const text = await saved[0]?.text();
    expect(JSON.parse(text ?? '')).toMatchObject({
      palisade_rules: 1,
      rules: { length: 40, 0: { rule_name: 'Rule 0', enabled: false } },
    });
  });

  it('are shown before they are imported, and put in the place of the others where that is wished', async () => {
    const { user, form } = await dialog(ruleOf({ rule_name: 'Office' }));
    await user.upload(form.getByLabelText(/^A file/u), fileOf({ palisade_rules: 1, rules: [FILE_RULE] }));
    expect(await form.findByText('From a file')).toBeVisible();
    expect(form.getByText(/Nobody may reach SSH on this computer\./u)).toBeVisible();
    await user.click(form.getByRole('checkbox'));
    server.on(importRules, reply(importRules, { added: 1, removed: 1 }));
    answerRules([ruleOf({ rule_name: 'From a file' })]);
    await user.click(form.getByRole('button', { name: 'Import 1 rule' }));
    expect(await status('From a file')).toBeVisible();
    expect(server.callsOf(importRules)[0]?.body).toEqual({ rules: [FILE_RULE], replace: true });
  });

  it.each([
    ['no JSON', '{', 'This is not a JSON file.'],
    ['another kind', '[]', 'This is not a file of Palisade’s rules.'],
    ['another JSON', '{"a":1}', 'This is not a file of Palisade’s rules.'],
    ['no rule', '{"palisade_rules":1,"rules":[]}', 'There is no rule in this file.'],
    [
      'a bad port',
      JSON.stringify({ palisade_rules: 1, rules: [FILE_RULE, { ...FILE_RULE, port: '0' }] }),
      'Rule 2, port: A port is a whole number from 1 to 65535: 0',
    ],
  ])('with %s are refused with a sentence', async (_, text, sentence) => {
    const { user, form } = await dialog();
    await user.upload(form.getByLabelText(/^A file/u), new File([text], 'rules.json', { type: 'application/json' }));
    expect(await form.findByRole('alert')).toHaveTextContent(sentence);
    expect(form.getByRole('button', { name: 'Import' })).toBeDisabled();
  });
});

describe('with a device', () => {
  const laptop = deviceOf();
  const source: BlockedSource = {
    ...{ device_id: laptop.id, address: '203.0.113.7', port: 443, packets: 3 },
    direction: 'inbound',
    protocol: 'tcp',
    ...{ first_at: '2026-11-20T10:00:00.000Z', last_at: '2026-11-20T10:05:00.000Z' },
  };

  it('says where the rules are applied, how much each decided, and what was blocked', async () => {
    const rule = ruleOf({ rule_name: 'Closed', action: 'block', port: '443' });
    server.on(listDevices, reply(listDevices, [laptop]));
    server.on(
      countRules,
      reply(countRules, [{ device_id: laptop.id, of: rule.id, packets: 1_204, bytes: 2_048, last_at: null }]),
    );
    server.on(listBlocked, reply(listBlocked, { packets: 3, packets_total: 1_204, sources: [source] }));
    open(rule);
    answerRules([rule]);
    expect(await screen.findByRole('region', { name: 'Your rules are applied on Laptop.' })).toHaveAttribute('data-tone', 'good');
    expect(await (await row('Closed')).findByText('1,204 packets blocked')).toBeVisible();
    expect(screen.getByRole('region', { name: 'Status' })).toHaveTextContent('ACTIVEon 1 of 1 device');
    expect(screen.getByRole('region', { name: 'Blocked Attempts' })).toHaveTextContent('1,2043 in the last hour');
    expect(screen.getByRole('region', { name: 'Data Protected' })).toHaveTextContent('2 KB');
    expect(screen.queryByText('Sample')).not.toBeInTheDocument();
    expect(await screen.findByText('203.0.113.7 to port 443 (TCP)')).toBeVisible();
  });

  it('a rule can be for some devices alone, and what it would cut is said before', async () => {
    const connection = {
      direction: 'inbound',
      protocol: 'tcp',
      local: '10.0.0.2',
      remote: '10.0.0.9',
      port: 22,
      program: 'sshd',
    } as const;
    const telemetry = {
      ...{ cpu_percent: 1, memory_percent: 1, memory_bytes: 1, network_in: 0, network_out: 0, network_percent: null },
      ...{ uptime_s: 1, listening: [], connections: [connection] },
    };
    const desk = deviceOf({ device_name: 'Desk', telemetry });
    server.on(listDevices, reply(listDevices, [laptop, desk]));
    server.on(countRules, reply(countRules, []));
    server.on(listBlocked, reply(listBlocked, { packets: 0, packets_total: 0, sources: [] }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    await user.selectOptions(form.getByLabelText('Action'), 'Block');
    const cut = 'Cuts 1 live connection of “Desk” (sshd). An SSH session is among them.';
    expect(await form.findByText(cut)).toBeVisible();
    expect(form.getByRole('checkbox', { name: /^All of them/u })).toBeChecked();
    await user.click(form.getByRole('checkbox', { name: 'Only on Laptop' }));
    await waitFor(() => expect(form.queryByText(cut)).not.toBeInTheDocument());
    server.on(addRule, reply(addRule, ruleOf({ rule_name: 'Mine', device_ids: [laptop.id] })));
    await user.type(form.getByLabelText('Rule Name'), 'Mine{Enter}');
    await status('Mine');
    expect(server.callsOf(addRule)[0]?.body).toMatchObject({ device_ids: [laptop.id] });
  });

  it('"Allow this" lets the address through the rule that blocked it, after a question', async () => {
    const rule = ruleOf({ rule_name: 'Closed', action: 'block', protocol: 'tcp', source_ip: '203.0.113.0/24', port: '443' });
    server.on(listDevices, reply(listDevices, [laptop]));
    server.on(countRules, reply(countRules, []));
    server.on(listBlocked, reply(listBlocked, { packets: 3, packets_total: 3, sources: [source] }));
    const user = open(rule);
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    server.on(at(editRule, rule), reply(editRule, rule));
    await user.click(await screen.findByRole('button', { name: /^Allow this/u }));
    expect(confirm).toHaveBeenCalledWith('Let 203.0.113.7 through “Closed”? It is let through the whole rule.');
    await waitFor(() => expect(server.callsOf(at(editRule, rule))).toHaveLength(1));
    expect(server.callsOf(at(editRule, rule))[0]?.body).toMatchObject({
      source_ip: '203.0.113.0-203.0.113.6, 203.0.113.8-203.0.113.255',
    });
  });
});
