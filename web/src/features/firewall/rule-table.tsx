import type { Rule } from '@palisade/contract/firewall';
import { EVERY } from '@palisade/contract/firewall-grammar';
import type { Finding } from '@palisade/contract/firewall-verdict';
import { IconAlertTriangle, IconArrowDownLeft, IconArrowUpRight, IconBan, IconCheck, IconTrash } from '@tabler/icons-react';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { ShowToSupport } from '#ui/show-to-support.tsx';
import { LongText } from './long-text.tsx';
import { ACTIONS, DIRECTIONS, describeSource, FINDINGS, PROTOCOLS } from './rule-words.ts';
import type { RuleActions } from './use-rule-actions.ts';
import './rule-table.css';

interface RuleTableProps {
  rules: readonly Rule[];
  /** Of every rule by its id: a finding may name one that is not listed just now. */
  names: ReadonlyMap<string, string>;
  findings: readonly Finding[];
  actions: RuleActions;
  /** Leads to another rule, whether it is listed just now or not. */
  onShow: (rule_id: string) => void;
}

/** The rules as a table; where there is no room for one, each row is a card. */
export function RuleTable({ rules, names, findings, actions, onShow }: RuleTableProps) {
  return (
    <table className="rule-table">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Rule</th>
          <th scope="col">Direction</th>
          <th scope="col">Action</th>
          <th scope="col">Protocol</th>
          <th scope="col">Source:Port</th>
          <th scope="col">
            <span className="visually-hidden">Delete</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <RuleRow
            key={rule.id}
            rule={rule}
            findings={findings.filter(({ rule_id }) => rule_id === rule.id)}
            names={names}
            actions={actions}
            onShow={onShow}
          />
        ))}
      </tbody>
    </table>
  );
}

const rowId = (id: string) => `rule-${id}`;

/** Brings the row of a rule into view, and the focus to it; false when it is not listed. */
export function goToRule(id: string): boolean {
  const row = document.getElementById(rowId(id));
  row?.scrollIntoView({ block: 'center' });
  row?.focus({ preventScroll: true });
  return row !== null;
}

interface RuleRowProps {
  rule: Rule;
  findings: readonly Finding[];
  names: ReadonlyMap<string, string>;
  actions: RuleActions;
  onShow: (rule_id: string) => void;
}

function RuleRow({ rule, findings, names, actions, onShow }: RuleRowProps) {
  const now = useMinute();
  const DirectionIcon = rule.direction === 'inbound' ? IconArrowDownLeft : IconArrowUpRight;
  return (
    <tr id={rowId(rule.id)} tabIndex={-1} className="rule-row" data-enabled={rule.enabled} aria-busy={actions.busy.has(rule.id)}>
      <td className="rule-row__status">
        <label className="rule-switch">
          <input
            type="checkbox"
            role="switch"
            aria-label={`Status of ${rule.rule_name}`}
            checked={rule.enabled}
            aria-checked={rule.enabled}
            onChange={() => actions.toggle(rule)}
          />
          <span aria-hidden="true">{rule.enabled ? 'On' : 'Off'}</span>
        </label>
      </td>
      <th scope="row" className="rule-row__rule">
        <bdi className="rule-row__name">{rule.rule_name}</bdi>
        <span className="rule-row__created">
          Created <Moment iso={rule.created_at} now={now} />
        </span>
        <ShowToSupport kind="rule" id={rule.id} name={rule.rule_name} isSmall />
        {findings.map((finding) => (
          <FindingNote key={finding.kind} finding={finding} otherName={names.get(finding.other_id) ?? ''} onShow={onShow} />
        ))}
      </th>
      <td className="rule-row__direction">
        <span className="rule-row__fact">
          <DirectionIcon size={16} stroke={1.7} aria-hidden="true" />
          {DIRECTIONS[rule.direction]}
        </span>
      </td>
      <td className="rule-row__action">
        <Badge tone={rule.action === 'allow' ? 'safe' : 'note'} icon={rule.action === 'allow' ? IconCheck : IconBan}>
          {ACTIONS[rule.action]}
        </Badge>
      </td>
      <td className="rule-row__protocol">{PROTOCOLS[rule.protocol]}</td>
      <td className="rule-row__source">
        <LongText text={describeSource(rule)} />
        {rule.destination_ip !== EVERY && (
          <span className="rule-row__destination">
            to <LongText text={rule.destination_ip} />
          </span>
        )}
      </td>
      <td className="rule-row__delete">
        <button
          type="button"
          className="rule-delete"
          aria-label={`Delete ${rule.rule_name}`}
          title="Delete"
          data-delete=""
          onClick={() => actions.remove(rule)}
        >
          <IconTrash size={18} stroke={1.7} aria-hidden="true" />
        </button>
      </td>
    </tr>
  );
}

/** What is odd about a rule, why, and the way to the other rule that makes it so. */
interface FindingNoteProps {
  finding: Finding;
  otherName: string;
  onShow: (rule_id: string) => void;
}

function FindingNote({ finding, otherName, onShow }: FindingNoteProps) {
  return (
    <span className="rule-finding">
      <span className="rule-finding__kind">
        <IconAlertTriangle size={14} stroke={2} aria-hidden="true" />
        {FINDINGS[finding.kind]}
      </span>
      <span>{finding.reason}</span>
      <Button variant="text" size="s" onClick={() => onShow(finding.other_id)}>
        Show the other rule: <bdi>{otherName}</bdi>
      </Button>
    </span>
  );
}
