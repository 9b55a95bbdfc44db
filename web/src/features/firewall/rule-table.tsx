import type { Device } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import type { Conflict } from '@palisade/contract/firewall-advice';
import { EVERY } from '@palisade/contract/firewall-grammar';
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
import { type ComponentProps, memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Badge } from '#ui/badge.tsx';
import { Check } from '#ui/check.tsx';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { Toggle } from '#ui/toggle.tsx';
import type { useAsked } from '#ui/use-asked.ts';
import { LongText } from './long-text.tsx';
import { ruleSentence } from './rule-sentence.ts';
import { ACTIONS, DIRECTIONS, describeDecider, describeSource, PROTOCOLS } from './rule-words.ts';
import { isAppliedNowhere } from './summary.tsx';
import type { RuleActions } from './use-rule-actions.ts';
import '#ui/records.css';
import './rule-table.css';

/** Loaded when a rule is first edited. */
const RuleEditor = lazyPart(async () => (await import('./rule-editor.tsx')).RuleEditor);

const COLUMNS = 9;

interface RuleTableProps {
  rules: readonly Rule[];
  /** All rules by id: a conflict may name a rule that the filter hides. */
  byId: ReadonlyMap<string, Rule>;
  /** All rules, for the editor. */
  all: readonly Rule[] | undefined;
  conflicts: ReadonlyMap<string, Conflict>;
  /** The rule that the address names. */
  asked: ReturnType<typeof useAsked>;
  actions: RuleActions;
  devices: readonly Device[];
  /** Packets that each rule decided; undefined if no device counts them. */
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

/** The rules as a table; on narrow screens each row is a card. */
export function RuleTable({
  rules,
  byId,
  all,
  conflicts,
  asked,
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
    <table className="records rule-table">
      <thead>
        <tr>
          <th scope="col" className="rule-select">
            <Check
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
              conflict={conflicts.get(rule.id)}
              kept={byId.get(conflicts.get(rule.id)?.kept_id ?? '')}
              reach={asked.id === rule.id ? asked.reach : undefined}
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
  conflict: Conflict | undefined;
  /** The rule that decides in place of this one, if it has no effect. */
  kept: Rule | undefined;
  /** Scrolls to the row; defined if the address names this rule. */
  reach: ((row: HTMLElement | null) => void) | undefined;
  does: RowActions;
  isSelected: boolean;
  devices: readonly Device[];
  packets: number | undefined;
}

/** Maximum length of source and port on a phone; the details show all of it. */
const TERMS_LENGTH = 24;

/** The terms of a rule in one line, for narrow rows: "Inbound, TCP, *:443". */
function describeTerms(rule: Rule): string {
  const source = describeSource(rule);
  const short = source.length > TERMS_LENGTH ? `${source.slice(0, TERMS_LENGTH)}…` : source;
  return `${DIRECTIONS[rule.direction]}, ${PROTOCOLS[rule.protocol]}, ${short}`;
}

const RuleRow = memo(function RuleRow({ rule, isBusy, reach, does, isSelected, devices, ...facts }: RuleRowProps) {
  // On a phone a row has two lines, and the person expands the details.
  const [isOpen, setIsOpen] = useState(false);
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (reach === undefined) return;
    setIsOpen(true);
    reach(row.current);
  }, [reach]);
  const DirectionIcon = rule.direction === 'inbound' ? IconArrowDownLeft : IconArrowUpRight;
  return (
    <tr
      ref={row}
      id={rowId(rule.id)}
      tabIndex={-1}
      className="rule-row"
      data-enabled={rule.enabled}
      data-open={isOpen}
      data-selected={isSelected}
      data-asked={reach !== undefined}
      aria-busy={isBusy}
    >
      <td className="rule-select">
        <Check aria-label={`Select ${rule.rule_name}`} checked={isSelected} onChange={() => does.select(rule.id)} />
      </td>
      <td className="rule-row__status">
        <Toggle
          name={`Status of ${rule.rule_name}`}
          label={<span aria-hidden="true">{rule.enabled ? 'On' : 'Off'}</span>}
          isOn={rule.enabled}
          idle={isAppliedNowhere(devices)}
          onChange={() => does.toggle(rule)}
        />
      </td>
      <th scope="row" className="rule-row__rule">
        <bdi className="block medium break">{rule.rule_name}</bdi>
        {/* CSS adds the action before the text, in the colour of the action. */}
        <span className="rule-row__terms muted small" data-action={rule.action} data-words={ACTIONS[rule.action]}>
          {describeTerms(rule)}
        </span>
        <Effect rule={rule} onShow={does.show} {...facts} />
        <RowFacts rule={rule} packets={facts.packets} />
        <RowDevices rule={rule} devices={devices} />
      </th>
      <td className="rule-row__column">
        <Row as="span" gap="1" className="nowrap" wrap={false}>
          <DirectionIcon size={16} stroke={1.7} aria-hidden="true" className="muted" />
          {DIRECTIONS[rule.direction]}
        </Row>
      </td>
      <td className="rule-row__column">
        <Badge tone={rule.action === 'allow' ? 'safe' : 'note'} icon={rule.action === 'allow' ? IconCheck : IconBan}>
          {ACTIONS[rule.action]}
        </Badge>
      </td>
      <td className="rule-row__column">{PROTOCOLS[rule.protocol]}</td>
      <td className="rule-row__source">
        <LongText text={describeSource(rule)} />
        {rule.destination_ip !== EVERY && (
          <span className="block faint small">
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
      <td className="rule-row__buttons nowrap">
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

interface EffectProps extends Pick<RuleRowProps, 'rule' | 'conflict' | 'kept'> {
  onShow: (rule_id: string) => void;
}

/** The effect of a rule in one sentence. Without an effect, the rule that decides in its place. */
function Effect({ rule, conflict, kept, onShow }: EffectProps) {
  if (!rule.enabled || conflict === undefined) {
    const sentence = ruleSentence(rule);
    return <span className="rule-row__sentence break muted">{rule.enabled ? sentence : `If turned on: ${sentence}`}</span>;
  }
  return (
    <span className="rule-row__effect amber break" title={conflict.reason}>
      <IconAlertTriangle size={14} stroke={2} aria-hidden="true" />{' '}
      {kept ? (
        <Sentence
          text={describeDecider(rule, kept)}
          parts={{
            rule: (
              <button type="button" className="bare" onClick={() => onShow(kept.id)}>
                <bdi>{kept.rule_name}</bdi>
              </button>
            ),
          }}
        />
      ) : (
        conflict.reason
      )}
    </span>
  );
}

function describePackets(packets: number, action: Rule['action']): string {
  const count = formatNumber(packets);
  return action === 'block'
    ? plural(packets, { one: '1 packet blocked', other: `${count} packets blocked` })
    : plural(packets, { one: '1 packet allowed', other: `${count} packets allowed` });
}

/** One line: creation date, duration and decided packets. */
const RowFacts = memo(function RowFacts({ rule, packets }: Pick<RuleRowProps, 'rule' | 'packets'>) {
  const now = useMinute();
  const isOver = rule.expires_at !== null && !rule.enabled && Date.parse(rule.expires_at) <= now;
  return (
    <Row as="span" gap="3" rowGap="0" className="rule-row__facts faint small">
      <span>
        <Sentence text="Created {when}" parts={{ when: <Moment iso={rule.created_at} now={now} /> }} />
      </span>
      {rule.expires_at !== null && (
        <span>
          <Sentence text={isOver ? 'Ended {when}' : 'Ends {when}'} parts={{ when: <Moment iso={rule.expires_at} now={now} /> }} />
        </span>
      )}
      {packets !== undefined && <span className="num">{describePackets(packets, rule.action)}</span>}
    </Row>
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
        <span className="rule-row__sentence break muted">
          {own.length === 0 ? 'Only on deleted devices.' : `Only on ${listFirst(own.map(({ device_name }) => device_name))}.`}
        </span>
      )}
      {refused.map(({ device_name, message }) => (
        <span key={device_name} className="red small block break">
          <Sentence text="Rejected by {device}: {message}" parts={{ device: <bdi>{device_name}</bdi>, message }} />
        </span>
      ))}
    </>
  );
}
