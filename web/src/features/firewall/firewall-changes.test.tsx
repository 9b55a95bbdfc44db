import { addRule, editRule, importRules, type Rule } from '@palisade/contract/firewall';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import type userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { at, refusal, reply } from '#api/fake-server.ts';
import { ruleOf } from './fake-rules.ts';
import { answerRules, begin, open, row, server, status } from './open-firewall.tsx';

beforeEach(begin);

/** The dialog of a new rule among others. */
async function dialog(...rules: Rule[]) {
  const user = open(...rules);
  await user.click(await screen.findByRole('button', { name: 'Add Rule' }));
  return { user, form: within(await screen.findByRole('dialog', { name: 'Add Rule' })) };
}

describe('a rule that allows everything', () => {
  it('is amber as it opens, and not once it is limited', async () => {
    const { user, form } = await dialog();
    const preview = () => form.getByText(/on this computer\.$/u).closest('[role="status"]');
    expect(preview()).toHaveAttribute('data-open', 'true');
    expect(form.getByText(/^This rule allows everything\./u)).toBeVisible();
    for (const label of ['Action', 'Source IP', 'Port']) expect(form.getByLabelText(label)).toHaveAttribute('data-open', 'true');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '443');
    await waitFor(() => expect(preview()).toHaveAttribute('data-open', 'false'));
    expect(form.queryByRole('button', { name: 'Block instead' })).not.toBeInTheDocument();
    expect(form.queryByText(/^This rule allows everything\./u)).not.toBeInTheDocument();
  });

  it('becomes a block at a press, and the focus stays at the action', async () => {
    const { user, form } = await dialog();
    await user.click(form.getByRole('button', { name: 'Block instead' }));
    expect(form.getByLabelText('Action')).toHaveValue('block');
    expect(form.getByLabelText('Action')).toHaveFocus();
    expect(form.getByText('No one may reach anything over TCP on this computer.')).toBeVisible();
  });
});

describe('adding a rule', () => {
  it('starts with the specification’s defaults, and sends them', async () => {
    const { user, form } = await dialog();
    expect(form.getByLabelText('Direction')).toHaveValue('inbound');
    expect(form.getByLabelText('Action')).toHaveValue('allow');
    expect(form.getByLabelText('Protocol')).toHaveValue('tcp');
    for (const label of ['Source IP', 'Destination IP', 'Port']) expect(form.getByLabelText(label)).toHaveValue('*');
    expect(form.getByText('Anyone may reach everything over TCP on this computer.')).toBeVisible();
    const made = ruleOf({ rule_name: 'Office' });
    server.answer(addRule, made);
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
    const { user, form } = await dialog();
    const added = ruleOf({ rule_name: 'Web' });
    server.on(addRule, async () => {
      answerRules([added]);
      await user.click(screen.getByRole('button', { name: 'Refresh', hidden: true }));
      expect(await screen.findAllByRole('switch', { name: 'Status of Web', hidden: true })).toHaveLength(1);
      return reply(addRule, added);
    });
    await user.type(form.getByLabelText('Rule Name'), 'Web');
    await user.click(form.getByRole('button', { name: 'Add Rule' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(screen.getAllByRole('switch', { name: 'Status of Web' })).toHaveLength(1);
  });

  it('hints while typing, and shows an error when the person leaves the field', async () => {
    const { user, form } = await dialog();
    const port = form.getByLabelText('Port');
    await user.clear(port);
    await user.type(port, '8100-8000');
    expect(form.getByText('Start the range with the lower number: 8100-8000')).toBeVisible();
    expect(port).not.toBeInvalid();
    await user.tab();
    expect(port).toBeInvalid();
    expect(port).toHaveAccessibleDescription('Start the range with the lower number: 8100-8000');
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

  it('has no port for ICMP, and leaves a typed one behind', async () => {
    const { user, form } = await dialog();
    await user.type(form.getByLabelText('Rule Name'), 'Pings');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '80');
    await user.selectOptions(form.getByLabelText('Protocol'), 'ICMP');
    expect(form.getByLabelText('Port')).toBeDisabled();
    expect(form.getByLabelText('Port')).toHaveAccessibleDescription('ICMP has no ports.');
    server.answer(addRule, ruleOf({ rule_name: 'Pings', protocol: 'icmp' }));
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

  it('keeps what was typed over Escape and a reload, until it is added or given up', async () => {
    const said = 'We restored what you typed here. It isn’t saved yet.';
    const first = await dialog();
    expect(first.form.queryByText(said)).not.toBeInTheDocument();
    await first.user.type(first.form.getByLabelText('Rule Name'), 'Web');
    await first.user.selectOptions(first.form.getByLabelText('Lasts'), '1 day');
    await first.user.keyboard('{Escape}');
    cleanup();
    const second = await dialog();
    expect(second.form.getByLabelText('Rule Name')).toHaveValue('Web');
    expect(second.form.getByLabelText('Lasts')).toHaveDisplayValue('1 day');
    expect(second.form.getByText(said)).toBeVisible();
    await second.user.click(second.form.getByRole('button', { name: 'Cancel' }));
    cleanup();
    const third = await dialog();
    expect(third.form.getByLabelText('Rule Name')).toHaveValue('');
    expect(third.form.queryByText(said)).not.toBeInTheDocument();
    server.answer(addRule, ruleOf({ rule_name: 'Office' }));
    await third.user.type(third.form.getByLabelText('Rule Name'), 'Office{Enter}');
    await status('Office');
    cleanup();
    expect((await dialog()).form.getByLabelText('Rule Name')).toHaveValue('');
  });

  it('keeps nothing of a preset that is several rules', async () => {
    const { user, form } = await dialog();
    await user.click(form.getByRole('button', { name: /^Only my network may print/u }));
    cleanup();
    expect((await dialog()).form.getByLabelText('Rule Name')).toHaveValue('');
  });
});

describe('"Would this pass?"', () => {
  async function ask(user: ReturnType<typeof userEvent.setup>, source: string, destination: string, port: string) {
    const form = within(screen.getByRole('region', { name: 'Would this pass?' }));
    for (const [label, text] of Object.entries({ Source: source, Destination: destination, Port: port })) {
      await user.clear(form.getByLabelText(label));
      if (text) await user.type(form.getByLabelText(label), text);
    }
    await user.click(form.getByRole('button', { name: 'Test connection' }));
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
    expect(form.getByRole('status')).toHaveTextContent('Would be blocked by default. Without a matching rule: inbound blocked');
    await user.selectOptions(form.getByLabelText('Direction'), 'Outbound');
    expect(form.getByRole('status')).toBeEmptyDOMElement();
    await user.click(form.getByRole('button', { name: 'Test connection' }));
    expect(form.getByRole('status')).toHaveTextContent('Would be allowed by default.');
  });

  it('says which field cannot be read', async () => {
    const user = open(ruleOf());
    await status('Web server');
    const form = await ask(user, '', 'home', '443');
    expect(form.getByLabelText('Source')).toHaveAccessibleDescription('Enter one address, like 192.168.1.10.');
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
    expect(form.getByText('No one may reach Remote Desktop on this computer.')).toBeVisible();
    const changed: Rule = { ...rule, port: '3389', action: 'block' };
    server.answer(at(editRule, rule), changed);
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('button', { name: 'Edit Office' })).toBeVisible();
    expect((await row('Office')).getByText('*:3389')).toBeVisible();
    expect(server.callsOf(at(editRule, rule))[0]?.body).toEqual({
      rule_name: 'Office',
      direction: 'inbound',
      action: 'block',
      protocol: 'tcp',
      source_ip: '*',
      destination_ip: '*',
      port: '3389',
    });
    await waitFor(() => expect(screen.getByRole('button', { name: 'Edit Office' })).toHaveFocus());
    expect(screen.getByText('Changed “Office”.')).toBeVisible();
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

  it('of a rule that is gone takes it from the list, and says so', async () => {
    const rule = ruleOf({ rule_name: 'Office' });
    const { user, form } = await edit(rule);
    server.on(at(editRule, rule), refusal('not_found'));
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
    expect(screen.getByText('“Office” was deleted in another window.')).toBeVisible();
  });

  it('of a temporary one keeps its end, or ends it, as is chosen', async () => {
    const rule = ruleOf({ rule_name: 'Office', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const { user, form } = await edit(rule);
    expect(form.getByLabelText('Lasts')).toHaveDisplayValue('No change');
    await user.selectOptions(form.getByLabelText('Lasts'), 'Until I turn it off');
    server.answer(at(editRule, rule), { ...rule, expires_at: null });
    await user.click(form.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(server.callsOf(at(editRule, rule))[0]?.body).toMatchObject({ lasts: null }));
  });
});

describe('before a rule is saved', () => {
  it('the dialog says what it would do among the others', async () => {
    const { user, form } = await dialog(ruleOf({ rule_name: 'SSH', port: '22' }), ruleOf({ rule_name: 'Web', port: '443' }));
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '443');
    await waitFor(() => expect(form.getByRole('status')).toHaveTextContent('Already allowed by “Web”.'));
    await user.selectOptions(form.getByLabelText('Action'), 'Block');
    await user.clear(form.getByLabelText('Port'));
    await user.type(form.getByLabelText('Port'), '*');
    expect(await form.findByText('With this rule, “SSH” and “Web” change nothing.')).toBeVisible();
  });

  it('a temporary one says how long it lasts', async () => {
    const { user, form } = await dialog();
    expect(form.getByLabelText('Lasts')).toHaveDisplayValue('Until I turn it off');
    await user.selectOptions(form.getByLabelText('Lasts'), '1 hour');
    server.answer(addRule, ruleOf({ rule_name: 'Guest', expires_at: '2026-11-20T11:00:00.000Z' }));
    await user.type(form.getByLabelText('Rule Name'), 'Guest{Enter}');
    await status('Guest');
    expect(server.callsOf(addRule)[0]?.body).toMatchObject({ lasts: 'hour' });
  });

  it('a preset fills the form, and another press empties it', async () => {
    const { user, form } = await dialog();
    await user.click(form.getByRole('button', { name: /^Block Remote Desktop/u }));
    expect(form.getByLabelText('Rule Name')).toHaveValue('Block Remote Desktop');
    expect(form.getByText('No one may reach Remote Desktop on this computer.')).toBeVisible();
    await user.click(form.getByRole('button', { name: /^Allow this game/u }));
    await user.selectOptions(form.getByLabelText('Game'), 'Valheim');
    expect(form.getByLabelText('Port')).toHaveValue('2456-2458');
    expect(form.getByText('Anyone may reach Valheim on this computer.')).toBeVisible();
    await user.click(form.getByRole('button', { name: /^Allow this game/u, pressed: true }));
    expect(form.getByLabelText('Rule Name')).toHaveValue('');
  });

  it('one of several rules is added whole', async () => {
    const { user, form } = await dialog();
    await user.click(form.getByRole('button', { name: /^Only my network may print/u }));
    expect(form.getByText(/^No one outside 10\.0\.0\.0\/8/u, { exact: false })).toBeVisible();
    server.answer(importRules, { added: 2, removed: 0 });
    answerRules([ruleOf({ rule_name: 'Print 6' }), ruleOf({ rule_name: 'Print 4' })]);
    await user.click(form.getByRole('button', { name: 'Add 2 rules' }));
    await status('Print 4');
    const [sent] = server.callsOf(importRules);
    expect(sent?.body).toMatchObject({
      rules: [{ rule_name: 'Only my network may print (IPv4)' }, { rule_name: 'Only my network may print (IPv6)' }],
    });
  });
});
