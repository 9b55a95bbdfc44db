import type { Device } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import { EVERY } from '@palisade/contract/firewall-grammar';
import type { Finding } from '@palisade/contract/firewall-verdict';
import { formatNumber, listFirst, plural } from '@palisade/contract/intl';
import {
  IconAlertTriangle,
  IconArrowDownLeft,
  IconArrowUpRight,
  IconBan,
  IconCheck,
  IconChevronDown,
  IconPencil,
  IconTrash,
  type TablerIcon,
} from '@tabler/icons-react';
import { type ComponentProps, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { LongText } from './long-text.tsx';
import { ruleSentence } from './rule-sentence.ts';
import { ACTIONS, DIRECTIONS, describeSource, FINDINGS, PROTOCOLS } from './rule-words.ts';
import type { RuleActions } from './use-rule-actions.ts';
import './rule-table.css';

/** Loaded when a rule is first edited. */
const RuleEditor = lazyPart(async () => (await import('./rule-editor.tsx')).RuleEditor);

const COLUMNS = 9;

interface RuleTableProps {
  rules: readonly Rule[];
  /** Names of all rules by id: a finding may name a rule that the filter hides. */
  names: ReadonlyMap<string, string>;
  /** All rules, for the editor. */
  all: readonly Rule[] | undefined;
  findings: ReadonlyMap<string, readonly Finding[]>;
  actions: RuleActions;
  devices: readonly Device[];
  /** Packets that each rule decided; undefined without a device that counts. */
  counts: ReadonlyMap<string, number> | undefined;
  /** Shows another rule, also one that the filter hides. */
  onShow: (rule_id: string) => void;
  /** The rule that is being edited. The editor needs all rules for its preview. */
  edited: Rule | undefined;
  onEdit: (rule: Rule | undefined) => void;
  selected: ReadonlySet<string>;
  onSelect: (rule_id: string) => void;
  /** Selects all listed rules, or none. */
  onSelectAll: (isSelected: boolean) => void;
  areAllSelected: boolean;
}

const NO_FINDINGS: readonly Finding[] = [];
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** The rules as a table; on narrow screens each row is a card. */
export function RuleTable({
  rules,
  names,
  all,
  findings,
  actions,
  devices,
  counts,
  onShow,
  edited,
  onEdit,
  selected,
  onSelect,
  onSelectAll,
  areAllSelected,
}: RuleTableProps) {
  const latest = useRef({ actions, onShow, onEdit, onSelect });
  useLayoutEffect(() => {
    latest.current = { actions, onShow, onEdit, onSelect };
  });
  // Stable callbacks, so that only changed rows render.
  const [does] = useState<RowActions>(() => ({
    toggle: (rule) => latest.current.actions.toggle(rule),
    remove: (rule) => latest.current.actions.remove(rule),
    show: (rule_id) => latest.current.onShow(rule_id),
    edit: (rule) => latest.current.onEdit(rule),
    select: (rule_id) => latest.current.onSelect(rule_id),
  }));
  const ended = useRef<string>(undefined);
  function end(rule: Rule, changed: boolean) {
    onEdit(undefined);
    ended.current = rule.id;
    if (changed) actions.tell(`Changed “${rule.rule_name}”.`);
  }
  // The row reappears after the next render, which may be later than the next task.
  useEffect(() => {
    if (edited !== undefined || ended.current === undefined) return;
    document.querySelector<HTMLElement>(`#${rowId(ended.current)} [data-edit]`)?.focus();
    ended.current = undefined;
  }, [edited]);
  return (
    <table className="rule-table">
      <thead>
        <tr>
          <th scope="col" className="rule-select">
            <input
              type="checkbox"
              aria-label="Select all rules"
              checked={areAllSelected}
              onChange={(event) => onSelectAll(event.currentTarget.checked)}
            />
          </th>
          <th scope="col">Status</th>
          <th scope="col">Rule</th>
          <th scope="col">Direction</th>
          <th scope="col">Action</th>
          <th scope="col">Protocol</th>
          <th scope="col">Source:Port</th>
          <th scope="col">
            <span className="visually-hidden">Edit or delete</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) =>
          rule.id === edited?.id ? (
            <tr key={rule.id} id={rowId(rule.id)} className="rule-row" data-edited="">
              <td colSpan={COLUMNS}>
                <RuleEditor rule={rule} rules={all} onEnd={(changed) => end(rule, changed)} />
              </td>
            </tr>
          ) : (
            <RuleRow
              key={rule.id}
              rule={rule}
              isBusy={actions.busy.has(rule.id)}
              findings={findings.get(rule.id) ?? NO_FINDINGS}
              names={findings.has(rule.id) ? names : NO_NAMES}
              does={does}
              isSelected={selected.has(rule.id)}
              devices={devices}
              packets={counts && (counts.get(rule.id) ?? 0)}
            />
          ),
        )}
      </tbody>
    </table>
  );
}

const rowId = (id: string) => `rule-${id}`;

/** Scrolls to the row of a rule and focuses it; false if the rule is not listed. */
export function goToRule(id: string): boolean {
  const row = document.getElementById(rowId(id));
  row?.scrollIntoView({ block: 'center' });
  row?.focus({ preventScroll: true });
  return row !== null;
}

interface RowActions extends Pick<RuleActions, 'toggle' | 'remove'> {
  show: (rule_id: string) => void;
  edit: (rule: Rule) => void;
  select: (rule_id: string) => void;
}

interface RuleRowProps {
  rule: Rule;
  isBusy: boolean;
  findings: readonly Finding[];
  names: ReadonlyMap<string, string>;
  does: RowActions;
  isSelected: boolean;
  devices: readonly Device[];
  packets: number | undefined;
}

/** Length of source and port on a phone; the details show all of it. */
const TERMS_LENGTH = 24;

/** The terms of a rule in one line, for narrow rows: "Inbound, TCP, *:443". */
function describeTerms(rule: Rule): string {
  const source = describeSource(rule);
  const short = source.length > TERMS_LENGTH ? `${source.slice(0, TERMS_LENGTH)}…` : source;
  return `${DIRECTIONS[rule.direction]}, ${PROTOCOLS[rule.protocol]}, ${short}`;
}

const RuleRow = memo(function RuleRow({ rule, isBusy, findings, names, does, isSelected, devices, packets }: RuleRowProps) {
  // On a phone a row has two lines, and the person expands the details.
  const [isOpen, setIsOpen] = useState(false);
  const DirectionIcon = rule.direction === 'inbound' ? IconArrowDownLeft : IconArrowUpRight;
  return (
    <tr
      id={rowId(rule.id)}
      tabIndex={-1}
      className="rule-row"
      data-enabled={rule.enabled}
      data-open={isOpen}
      data-selected={isSelected}
      aria-busy={isBusy}
    >
      <td className="rule-select">
        <input
          type="checkbox"
          aria-label={`Select ${rule.rule_name}`}
          checked={isSelected}
          onChange={() => does.select(rule.id)}
        />
      </td>
      <td className="rule-row__status">
        <label className="rule-switch">
          <input
            type="checkbox"
            role="switch"
            aria-label={`Status of ${rule.rule_name}`}
            checked={rule.enabled}
            aria-checked={rule.enabled}
            onChange={() => does.toggle(rule)}
          />
          <span aria-hidden="true">{rule.enabled ? 'On' : 'Off'}</span>
        </label>
      </td>
      <th scope="row" className="rule-row__rule">
        <bdi className="rule-row__name">{rule.rule_name}</bdi>
        {/* CSS adds the action before the text, in the colour of the action. */}
        <span className="rule-row__terms" data-action={rule.action} data-words={ACTIONS[rule.action]}>
          {describeTerms(rule)}
        </span>
        <span className="rule-row__sentence">{ruleSentence(rule)}</span>
        <RowFindings rule={rule} packets={packets} findings={findings} names={names} onShow={does.show} />
        <RowDevices rule={rule} devices={devices} />
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
            <Sentence text="to {destination}" parts={{ destination: <LongText text={rule.destination_ip} /> }} />
          </span>
        )}
      </td>
      <td className="rule-row__more">
        <RowButton
          icon={IconChevronDown}
          aria-label={`Details of ${rule.rule_name}`}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        />
      </td>
      <td className="rule-row__buttons">
        <ShowToSupport kind="rule" id={rule.id} name={rule.rule_name} isSmall />
        <RowButton
          icon={IconPencil}
          aria-label={`Edit ${rule.rule_name}`}
          title="Edit"
          data-edit=""
          onClick={() => does.edit(rule)}
        />
        <RowButton
          icon={IconTrash}
          aria-label={`Delete ${rule.rule_name}`}
          title="Delete"
          data-delete=""
          onClick={() => does.remove(rule)}
        />
      </td>
    </tr>
  );
});

function RowButton({ icon: Icon, ...props }: ComponentProps<'button'> & { icon: TablerIcon }) {
  return (
    <button {...props} type="button" className="rule-button icon-button">
      <Icon size={18} stroke={1.7} aria-hidden="true" />
    </button>
  );
}

interface RowFindingsProps extends Pick<RuleRowProps, 'rule' | 'packets' | 'findings' | 'names'> {
  onShow: (rule_id: string) => void;
}

/** The facts of a rule and its contradictions. Pressing a contradiction shows its explanation. */
function RowFindings({ rule, packets, findings, names, onShow }: RowFindingsProps) {
  const [open, setOpen] = useState<Finding['kind']>();
  return (
    <>
      <RowFacts rule={rule} packets={packets}>
        {findings.map(({ kind }) => (
          <button
            key={kind}
            type="button"
            className="rule-finding__kind"
            aria-expanded={open === kind}
            onClick={() => setOpen(open === kind ? undefined : kind)}
          >
            <IconAlertTriangle size={14} stroke={2} aria-hidden="true" />
            {FINDINGS[kind]}
          </button>
        ))}
      </RowFacts>
      {findings
        .filter(({ kind }) => kind === open)
        .map((finding) => (
          <FindingNote key={finding.kind} finding={finding} otherName={names.get(finding.other_id ?? '') ?? ''} onShow={onShow} />
        ))}
    </>
  );
}

/** One line: creation date, duration and contradictions. It keeps its height when contradictions appear. */
interface RowFactsProps {
  rule: Rule;
  packets: number | undefined;
  children: ReactNode;
}

function describePackets(packets: number, action: Rule['action']): string {
  const count = formatNumber(packets);
  return action === 'block'
    ? plural(packets, { one: '1 packet blocked', other: `${count} packets blocked` })
    : plural(packets, { one: '1 packet allowed', other: `${count} packets allowed` });
}

const RowFacts = memo(function RowFacts({ rule, packets, children }: RowFactsProps) {
  const now = useMinute();
  const isOver = rule.expires_at !== null && !rule.enabled && Date.parse(rule.expires_at) <= now;
  return (
    <span className="rule-row__facts">
      <span>
        <Sentence text="Created {when}" parts={{ when: <Moment iso={rule.created_at} now={now} /> }} />
      </span>
      {rule.expires_at !== null && (
        <span>
          <Sentence text={isOver ? 'Ended {when}' : 'Ends {when}'} parts={{ when: <Moment iso={rule.expires_at} now={now} /> }} />
        </span>
      )}
      {packets !== undefined && <span className="num">{describePackets(packets, rule.action)}</span>}
      {children}
    </span>
  );
});

/** The devices of a rule that applies to some only, and the devices that refused it with the reason. */
function RowDevices({ rule, devices }: { rule: Rule; devices: readonly Device[] }) {
  const own = devices.filter(({ id }) => rule.device_ids.includes(id));
  const refused = devices.flatMap(({ device_name, enforcement }) =>
    enforcement.errors.filter(({ rule_id }) => rule_id === rule.id).map(({ message }) => ({ device_name, message })),
  );
  return (
    <>
      {rule.device_ids.length > 0 && (
        <span className="rule-row__sentence">
          {own.length === 0 ? 'Only on deleted devices.' : `Only on ${listFirst(own.map(({ device_name }) => device_name))}.`}
        </span>
      )}
      {refused.map(({ device_name, message }) => (
        <span key={device_name} className="rule-row__refused">
          <Sentence text="Rejected by {device}: {message}" parts={{ device: <bdi>{device_name}</bdi>, message }} />
        </span>
      ))}
    </>
  );
}

/** A contradiction of a rule, its explanation, and a link to the other rule. */
interface FindingNoteProps {
  finding: Finding;
  otherName: string;
  onShow: (rule_id: string) => void;
}

function FindingNote({ finding: { reason, other_id }, otherName, onShow }: FindingNoteProps) {
  return (
    <span className="rule-finding">
      <span>{reason}</span>
      {other_id !== null && (
        <Button variant="text" size="s" onClick={() => onShow(other_id)}>
          <Sentence text="Show “{rule}”" parts={{ rule: <bdi>{otherName}</bdi> }} />
        </Button>
      )}
    </span>
  );
}
