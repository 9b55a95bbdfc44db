import { type BlockedSource, countRules, listBlocked, listDevices } from '@palisade/contract/devices';
import {
  addRule,
  changeRules,
  deleteRule,
  editRule,
  importRules,
  listRevisions,
  listRules,
  type NewRule,
  type Rule,
  setRuleEnabled,
  undoRevision,
} from '@palisade/contract/firewall';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceOf, telemetryOf } from '#api/fake-devices.ts';
import { at, refusal, reply } from '#api/fake-server.ts';
import { textsOf } from '#ui/render-for-test.tsx';
import { ruleOf } from './fake-rules.ts';
import { answerRules, begin, log, open, openAt, revisionOf, row, server, status } from './open-firewall.tsx';
import { ruleSentence } from './rule-sentence.ts';

beforeEach(begin);

describe('the list of rules', () => {
  it('is empty at first, says what happens without rules, and leads to the first one', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    expect(await screen.findByRole('dialog', { name: 'Add Rule' })).toBeVisible();
    expect(screen.getByText(/inbound blocked, outbound allowed/u)).toBeInTheDocument();
  });

  // proves: product-1.5-1
  it('says first that nothing applies the rules, and is never teal', async () => {
    open(ruleOf({ rule_name: 'Web', port: '443' }));
    await row('Web');
    const summary = await screen.findByRole('region', { name: 'No device applies these rules yet.' });
    expect(summary).toHaveAttribute('data-tone', 'unknown');
    const [first] = within(summary).getAllByRole('link');
    expect(first).toHaveTextContent('Add a device');
  });

  it('shows of each rule all that the specification names', async () => {
    const udp = ruleOf({ rule_name: 'Office', protocol: 'udp', source_ip: '10.0.0.0/8', port: '53', destination_ip: '10.0.0.1' });
    open(
      udp,
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
    expect(office.getByText(ruleSentence(udp))).toBeVisible();
    expect(screen.getByRole('columnheader', { name: 'Source:Port' })).toBeVisible();
    expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('1of 2 on your account');
  });

  it('shows script as text, and the whole of a long list on demand', async () => {
    const list = Array.from({ length: 20 }, (_, index) => `10.0.0.${index + 1}`).join(', ');
    const user = open(ruleOf({ rule_name: '<b>bold</b>', source_ip: list }));
    expect(await screen.findByText('<b>bold</b>')).toBeVisible();
    expect(screen.queryByText(`${list}:*`)).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Show all' }));
    expect(screen.getByText(`${list}:*`)).toBeVisible();
  });

  it('says which rule decides in place of one without an effect', async () => {
    const allow = ruleOf({ rule_name: 'Narrow allow', port: '22' });
    open(ruleOf({ rule_name: 'Wide block', action: 'block' }), allow);
    const narrow = await row('Narrow allow');
    expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('2of 2, 1 conflict');
    expect(narrow.getByRole('rowheader')).toHaveTextContent('Blocked by “Wide block”.');
    expect(narrow.queryByText(ruleSentence(allow))).not.toBeInTheDocument();
  });

  it('groups conflicts with one suggested change for each, which can be undone', async () => {
    const wide = ruleOf({ rule_name: 'Wide block', action: 'block' });
    const allows = ['22', '80'].map((port) => ruleOf({ rule_name: `Allow ${port}`, port }));
    const nowhere = ruleOf({ rule_name: 'Nowhere', source_ip: '127.0.0.1', direction: 'outbound' });
    const user = open(wide, ...allows, nowhere);
    await user.click(await screen.findByRole('radio', { name: 'Conflicts 3' }));
    expect(screen.getByText('3 rules have no effect.')).toBeVisible();
    const group = within(screen.getByRole('region', { name: 'Conflicts with Wide block' }));
    expect(textsOf(group.getAllByRole('listitem'))).toEqual([
      expect.stringContaining('Allow 22'),
      expect.stringContaining('Allow 80'),
    ]);
    expect(screen.getByRole('region', { name: 'Rules that match no traffic' })).toHaveTextContent('Nowhere');

    server.answer(changeRules, { changed: 1 });
    answerRules([wide, ...allows.slice(1), nowhere]);
    await user.click(group.getByRole('button', { name: 'Delete Allow 22' }));
    expect(await screen.findByText('2 rules have no effect.')).toBeVisible();
    expect(server.callsOf(changeRules)[0]?.body).toEqual({ rule_ids: [allows[0]?.id], change: 'delete' });
    expect(screen.getByRole('button', { name: 'Undo' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Delete all 2' }));
    await waitFor(() => expect(server.callsOf(changeRules)).toHaveLength(2));
    expect(await screen.findByText('No conflicts')).toBeVisible();
  });

  it('changes selected rules together', async () => {
    const rules = ['One', 'Two', 'Three'].map((rule_name, index) => ruleOf({ rule_name, port: String(index + 1) }));
    const user = open(...rules);
    server.answer(changeRules, { changed: 2 });
    await user.click(await screen.findByRole('checkbox', { name: 'Select One' }));
    await user.click(screen.getByRole('checkbox', { name: 'Select Three' }));
    const bar = within(screen.getByRole('group', { name: 'Selected rules' }));
    expect(bar.getByText('2 of 3 selected')).toBeVisible();
    await user.click(bar.getByRole('button', { name: 'Disable' }));
    expect(await screen.findByText('Disabled 2 rules.')).toBeVisible();
    expect(server.callsOf(changeRules)[0]?.body).toEqual({ rule_ids: [rules[0]?.id, rules[2]?.id], change: 'disable' });
    expect(screen.queryByRole('group', { name: 'Selected rules' })).not.toBeInTheDocument();

    await user.click(screen.getByRole('checkbox', { name: 'Select all rules' }));
    await user.click(screen.getByRole('button', { name: 'Delete selected' }));
    expect(await screen.findByText('Deleted 3 rules.')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Undo' })).toBeVisible();
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
  });

  it('says why selected rules were not changed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const user = open(ruleOf({ rule_name: 'One' }));
    server.on(changeRules, refusal('internal', { detail: 'The server is tired.' }));
    await user.click(await screen.findByRole('checkbox', { name: 'Select One' }));
    await user.click(screen.getByRole('button', { name: 'Delete selected' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('We couldn’t delete “One”');
    expect(await status('One')).toBeVisible();
  });

  it('says of a temporary rule until when it lasts, or did', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    open(
      ruleOf({ rule_name: 'Still', expires_at: later }),
      ruleOf({ rule_name: 'Over', enabled: false, expires_at: '2026-11-20T10:00:00.000Z' }),
    );
    expect((await row('Still')).getByText(/^Ends/u)).toBeVisible();
    expect((await row('Over')).getByText(/^Ended/u)).toBeVisible();
  });

  it('reads thirty first, the others when the screen stands, and finds among all of them', async () => {
    const wide = ruleOf({ rule_name: 'Wide block', action: 'block', source_ip: '198.51.100.0/24' });
    const many = Array.from({ length: 37 }, (_, index) => ruleOf({ rule_name: `Rule ${index}`, port: `${1000 + index}` }));
    const narrow = ruleOf({ rule_name: 'Narrow allow', port: '22', source_ip: '198.51.100.7' });
    const off = ruleOf({ rule_name: 'Sleeping', enabled: false });
    const user = open(narrow, ...many, off, wide);
    await row('Narrow allow');
    await waitFor(() => expect(screen.getByRole('region', { name: 'Active Rules' })).toHaveTextContent('39of 40'));
    expect(screen.getAllByRole('switch')).toHaveLength(30);
    await user.click(screen.getByRole('button', { name: 'Show more (10 left)' }));
    expect(screen.getAllByRole('switch')).toHaveLength(40);

    await user.click(screen.getByLabelText('Search the rules'));
    await user.paste('nothing like it');
    expect(screen.getByText('No matching rules')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show all rules' }));
    await user.click(screen.getByRole('radio', { name: 'Off' }));
    expect(screen.getAllByRole('switch')).toHaveLength(1);
    await user.click(screen.getByRole('radio', { name: 'All 40' }));

    Element.prototype.scrollIntoView = vi.fn();
    const first = await row('Narrow allow');
    await user.click(first.getByRole('button', { name: 'Wide block' }));
    expect((await status('Wide block')).closest('tr')).toHaveFocus();
  });

  it('goes to the rule of the address, also one that is not among the first', async () => {
    const scrollIntoView = vi.fn();
    Element.prototype.scrollIntoView = scrollIntoView;
    const many = Array.from({ length: 40 }, (_, index) => ruleOf({ rule_name: `Rule ${index}`, port: `${1000 + index}` }));
    const last = many.at(-1);
    openAt(`/firewall?rule=${last?.id}`, ...many);
    await waitFor(async () => expect((await status('Rule 39')).closest('tr')).toHaveFocus());
    expect((await status('Rule 39')).closest('tr')).toHaveAttribute('data-open', 'true');
    expect(scrollIntoView).toHaveBeenCalledOnce();
  });

  it('says that the rule of the address is gone', async () => {
    openAt('/firewall?rule=none', ruleOf());
    expect(await screen.findByRole('alert')).toHaveTextContent('The rule of this link was deleted.');
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
    expect(blocked).toHaveTextContent('Not measured yet');
    const mark = within(blocked).getByRole('button', { name: 'Sample' });
    expect(within(blocked).queryByRole('tooltip')).not.toBeInTheDocument();
    await userEvent.hover(mark);
    expect(within(blocked).getByRole('tooltip')).toHaveTextContent('not a measurement');
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
    expect(await screen.findByRole('alert')).toHaveTextContent('We couldn’t change “Office”');
    expect(await status('Office')).toBeChecked();
    expect(logged).toHaveBeenCalled();
    server.answer(at(setRuleEnabled, rule), { ...rule, enabled: false });
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    await waitFor(async () => expect(await status('Office')).not.toBeChecked());
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

  it('takes it from the list, and the focus moves to the next', async () => {
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
    expect(screen.getByText('Deleted “Office”.')).toBeInTheDocument();
  });

  it('that is gone already is no failure', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    const logged = log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(deleteRule, rule), refusal('not_found'));
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    expect(await screen.findByRole('button', { name: 'Add First Rule' })).toHaveFocus();
    expect(screen.getByText('“Office” was already deleted.')).toBeInTheDocument();
    expect(logged).toHaveBeenCalled();
  });

  it('that fails is logged and said; Retry does not ask again', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    const logged = log();
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.on(at(deleteRule, rule), refusal('internal'));
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('We couldn’t delete “Office”');
    expect(logged).toHaveBeenCalled();
    server.answer(at(deleteRule, rule), undefined);
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('No firewall rules yet')).toBeVisible();
    expect(confirm).toHaveBeenCalledTimes(1);
  });
});

describe('past changes', () => {
  it('can be undone at once', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    const rule = ruleOf({ rule_name: 'Office' });
    const user = open(rule);
    server.answer(at(deleteRule, rule), undefined);
    await user.click(await screen.findByRole('button', { name: 'Delete Office' }));
    await screen.findByText('Deleted “Office”.');
    const latest = revisionOf({ kind: 'deleted', removed: 1, changed: 0 });
    server.answer(listRevisions, [latest]);
    const undo = at(undoRevision, latest);
    server.on(undo, reply(undoRevision, revisionOf({ kind: 'undone' })));
    answerRules([rule]);
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    expect(await status('Office')).toBeVisible();
    expect(server.callsOf(undo)).toHaveLength(1);
    expect(screen.getByText('Change undone.')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Undo' })).not.toBeInTheDocument();
  });

  it('stands in the history, each with the way back to before it', async () => {
    const user = open(ruleOf({ rule_name: 'Office' }));
    const revisions = [
      revisionOf({ kind: 'imported', rule_name: null, added: 12, changed: 0, removed: 3 }),
      revisionOf({ kind: 'expired', rule_name: null, changed: 2 }),
      revisionOf({ kind: 'disabled' }),
    ];
    server.answer(listRevisions, revisions);
    await user.click(await screen.findByRole('button', { name: 'History' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Rule history' }));
    for (const text of ['Imported 12 rules, replacing 3', '2 rules ended and were disabled', 'Disabled “Office”'])
      expect(await dialog.findByText(text)).toBeVisible();
    const undo = at(undoRevision, revisions[2] ?? revisionOf({}));
    server.on(undo, refusal('conflict', { detail: 'There is nothing to take back.' }));
    await user.click(dialog.getByRole('button', { name: 'Restore: Disabled “Office”' }));
    expect(await dialog.findByRole('alert')).toHaveTextContent('There is nothing to take back.');
  });
});

describe('rules as a file', () => {
  const FILE_RULE: NewRule & { enabled: boolean } = {
    rule_name: 'From a file',
    direction: 'inbound',
    action: 'block',
    protocol: 'tcp',
    source_ip: '*',
    destination_ip: '*',
    port: '22',
    enabled: true,
  };
  const fileOf = (content: unknown) => new File([JSON.stringify(content)], 'rules.json', { type: 'application/json' });

  async function dialog(...rules: Rule[]) {
    const user = open(...rules);
    await user.click(await screen.findByRole('button', { name: 'Import' }));
    return { user, form: within(await screen.findByRole('dialog', { name: 'Import rules' })) };
  }

  it('are written for another firewall, with what it cannot express', async () => {
    const user = open(ruleOf({ rule_name: 'Ping', protocol: 'icmp' }), ruleOf({ rule_name: 'Web', port: '443' }));
    await status('Web');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    const form = within(await screen.findByRole('dialog', { name: 'Export rules' }));
    expect(form.queryByRole('list')).not.toBeInTheDocument();
    await user.selectOptions(form.getByLabelText('For'), 'Ubuntu: ufw');
    expect(form.getByRole('list', { name: 'Rules left out of the file' })).toHaveTextContent('ufw has no rules about ICMP.');
    await user.selectOptions(form.getByLabelText('For'), 'Windows: PowerShell');
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
    await user.click(await screen.findByRole('button', { name: 'Save file' }));
    await waitFor(() => expect(saved).toHaveLength(1));
    const text = await saved[0]?.text();
    expect(JSON.parse(text ?? '')).toMatchObject({
      palisade_rules: 1,
      rules: { length: 40, 0: { rule_name: 'Rule 0', enabled: false } },
    });
  });

  it('are shown before they are imported, and put in the place of the others where that is wished', async () => {
    const { user, form } = await dialog(ruleOf({ rule_name: 'Office' }));
    await user.upload(form.getByLabelText(/^Exported rules file/u), fileOf({ palisade_rules: 1, rules: [FILE_RULE] }));
    expect(await form.findByText('From a file')).toBeVisible();
    expect(form.getByText(/No one may reach SSH on this computer\./u)).toBeVisible();
    await user.click(form.getByRole('checkbox'));
    server.answer(importRules, { added: 1, removed: 1 });
    answerRules([ruleOf({ rule_name: 'From a file' })]);
    await user.click(form.getByRole('button', { name: 'Import 1 rule' }));
    expect(await status('From a file')).toBeVisible();
    expect(server.callsOf(importRules)[0]?.body).toEqual({ rules: [FILE_RULE], replace: true });
  });
});

describe('with a device', () => {
  const laptop = deviceOf();
  const source: BlockedSource = {
    device_id: laptop.id,
    address: '203.0.113.7',
    port: 443,
    packets: 3,
    direction: 'inbound',
    protocol: 'tcp',
    first_at: '2026-11-20T10:00:00.000Z',
    last_at: '2026-11-20T10:05:00.000Z',
  };

  it('says where the rules are applied, how much each decided, and what was blocked', async () => {
    const rule = ruleOf({ rule_name: 'Closed', action: 'block', port: '443' });
    server.answer(listDevices, [laptop]);
    server.answer(countRules, [{ device_id: laptop.id, of: rule.id, packets: 1_204, bytes: 2_048, last_at: null }]);
    server.answer(listBlocked, { packets: 3, packets_total: 1_204, sources: [source] });
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
    const telemetry = telemetryOf({ connections: [connection] });
    const desk = deviceOf({ device_name: 'Desk', telemetry });
    server.answer(listDevices, [laptop, desk]);
    server.answer(countRules, []);
    server.answer(listBlocked, { packets: 0, packets_total: 0, sources: [] });
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Add First Rule' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add Rule' }));
    await user.selectOptions(form.getByLabelText('Action'), 'Block');
    const cut = 'Disconnects 1 live connection on “Desk” (sshd). One is an SSH session.';
    expect(await form.findByText(cut)).toBeVisible();
    expect(form.getByRole('checkbox', { name: /^All devices/u })).toBeChecked();
    await user.click(form.getByRole('checkbox', { name: 'Only on Laptop' }));
    await waitFor(() => expect(form.queryByText(cut)).not.toBeInTheDocument());
    server.answer(addRule, ruleOf({ rule_name: 'Mine', device_ids: [laptop.id] }));
    await user.type(form.getByLabelText('Rule Name'), 'Mine{Enter}');
    await status('Mine');
    expect(server.callsOf(addRule)[0]?.body).toMatchObject({ device_ids: [laptop.id] });
  });

  it('"Allow this" lets the address through the rule that blocked it, after a question', async () => {
    const rule = ruleOf({ rule_name: 'Closed', action: 'block', protocol: 'tcp', source_ip: '203.0.113.0/24', port: '443' });
    server.answer(listDevices, [laptop]);
    server.answer(countRules, []);
    server.answer(listBlocked, { packets: 3, packets_total: 3, sources: [source] });
    const user = open(rule);
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    server.answer(at(editRule, rule), rule);
    await user.click(await screen.findByRole('button', { name: /^Allow this/u }));
    expect(confirm).toHaveBeenCalledWith('Exclude 203.0.113.7 from “Closed”? The rule won’t block it anymore.');
    await waitFor(() => expect(server.callsOf(at(editRule, rule))).toHaveLength(1));
    expect(server.callsOf(at(editRule, rule))[0]?.body).toMatchObject({
      source_ip: '203.0.113.0-203.0.113.6, 203.0.113.8-203.0.113.255',
    });
  });
});
