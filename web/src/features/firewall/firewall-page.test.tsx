import type { Endpoint } from '@palisade/contract/endpoint';
import { addRule, deleteRule, listRules, type Rule, setRuleEnabled } from '@palisade/contract/firewall';
import { readConfig } from '@palisade/contract/platform';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ruleOf } from './fake-rules.ts';
import { FirewallPage } from './firewall-page.tsx';

let server: FakeServer;
const log = () => vi.spyOn(console, 'error').mockReturnValue();

beforeEach(() => {
  server = new FakeServer();
  server.on(readConfig, reply(readConfig, CONFIG));
});

/** The call for one rule, at its own address. */
function at<E extends Endpoint>(endpoint: E, rule: Rule): E {
  return { ...endpoint, path: endpoint.path.replace('{id}', rule.id) };
}

function open(...rules: Rule[]) {
  server.on(listRules, reply(listRules, rules));
  renderForTest(<FirewallPage />);
  return userEvent.setup();
}

const row = async (name: string) => within(await screen.findByRole('row', { name: new RegExp(name, 'u') }));
const status = (name: string) => screen.findByRole('switch', { name: `Status of ${name}` });

describe('the list of rules', () => {
  it('shows that it is loading', () => {
    server.on(listRules, () => new Promise(() => undefined));
    renderForTest(<FirewallPage />);
    expect(screen.getByRole('status', { name: 'Loading the rules' })).toBeVisible();
    expect(screen.getByText(/^Reading your rules, to see if one needs a look…/u)).toBeVisible();
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
    const summary = screen.getByRole('region', { name: 'Nothing applies your rules yet.' });
    expect(summary).toHaveAttribute('data-tone', 'unknown');
    expect(summary).toHaveTextContent('They block nothing until a device with the Palisade agent is connected, and none is.');
  });

  it('says why it could not be read, and reads it on Retry', async () => {
    server.on(listRules, refusal('internal', { detail: 'The server is tired.' }));
    renderForTest(<FirewallPage />);
    expect(await screen.findByRole('alert')).toHaveTextContent('The server is tired.');
    expect(screen.getByText(/^Your rules could not be read\./u)).toBeVisible();
    server.on(listRules, reply(listRules, [ruleOf({ rule_name: 'Found again' })]));
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
    expect(narrow.getByText('Never matches')).toBeVisible();
    expect(narrow.getByText(/Another rule blocks all of this traffic/u)).toBeVisible();
    expect(screen.getByText(/^One rule needs a look\./u)).toBeVisible();
    Element.prototype.scrollIntoView = vi.fn();
    await user.click(narrow.getByRole('button', { name: 'Show the other rule: Wide block' }));
    expect((await status('Wide block')).closest('tr')).toHaveFocus();
  });

  it('shows fifty of many, finds the others, and leads to one that is not listed', async () => {
    const wide = ruleOf({ rule_name: 'Wide block', action: 'block', source_ip: '198.51.100.0/24' });
    const many = Array.from({ length: 60 }, (_, index) => ruleOf({ rule_name: `Rule ${index}`, port: `${1000 + index}` }));
    const narrow = ruleOf({ rule_name: 'Narrow allow', port: '22', source_ip: '198.51.100.7', enabled: true });
    const off = ruleOf({ rule_name: 'Sleeping', enabled: false });
    const user = open(narrow, ...many, off, wide);
    await row('Narrow allow');
    await waitFor(() => expect(screen.getAllByRole('switch')).toHaveLength(50));
    await user.click(screen.getByRole('button', { name: 'Show more (13 left)' }));
    expect(screen.getAllByRole('switch')).toHaveLength(63);

    await user.type(screen.getByLabelText('Search the rules'), 'RULE 5');
    expect(screen.getAllByRole('switch').map((one) => one.getAttribute('aria-label'))).toEqual([
      'Status of Rule 5',
      ...Array.from({ length: 10 }, (_, index) => `Status of Rule ${50 + index}`),
    ]);
    await user.clear(screen.getByLabelText('Search the rules'));
    await user.click(screen.getByRole('radio', { name: 'Off 1' }));
    expect(screen.getAllByRole('switch')).toHaveLength(1);
    await user.type(screen.getByLabelText('Search the rules'), 'nothing like it');
    expect(screen.getByText('No rule matches')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show all rules' }));

    Element.prototype.scrollIntoView = vi.fn();
    const first = await row('Narrow allow');
    await user.click(first.getByRole('button', { name: 'Show the other rule: Wide block' }));
    expect((await status('Wide block')).closest('tr')).toHaveFocus();
  });

  it('reads the list anew on Refresh', async () => {
    const user = open();
    await screen.findByText('No firewall rules yet');
    server.on(listRules, reply(listRules, [ruleOf({ rule_name: 'New' })]));
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
    await user.click(screen.getByRole('button', { name: 'Add Rule' }));
    return { user, form: within(await screen.findByRole('dialog', { name: 'Add Rule' })) };
  }

  it('starts with the specification’s defaults, and sends them', async () => {
    const { user, form } = await dialog();
    expect(form.getByLabelText('Direction')).toHaveValue('inbound');
    expect(form.getByLabelText('Action')).toHaveValue('allow');
    expect(form.getByLabelText('Protocol')).toHaveValue('tcp');
    for (const label of ['Source IP', 'Destination IP', 'Port']) expect(form.getByLabelText(label)).toHaveValue('*');
    expect(form.getByText('Allows TCP traffic coming in from anywhere to anywhere.')).toBeVisible();
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
      server.on(listRules, reply(listRules, [added]));
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
    expect(form.getByText('Allows TCP traffic coming in from anywhere to anywhere, port 8000-8100.')).toBeVisible();
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
