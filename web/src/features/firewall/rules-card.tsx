import type { Device } from '@palisade/contract/devices';
import type { Rule, RuleChange } from '@palisade/contract/firewall';
import type { Conflict } from '@palisade/contract/firewall-advice';
import { IconArrowBackUp, IconChecks, IconDownload, IconHistory, IconListCheck, IconUpload, IconWall } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useSearchParams } from 'react-router';
import { ruleCountsQuery } from '#domain/device/devices.ts';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { needsFilters } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, ErrorNotice, NothingMatches } from '#ui/states.tsx';
import { useAsked } from '#ui/use-asked.ts';
import { ConflictGroups } from './conflict-groups.tsx';
import { FIRST_RULES } from './firewall.queries.ts';
import { chosenOf, EVERY_RULE, type RuleChoice, RuleFilters } from './rule-filters.tsx';
import { goToRule, RuleTable } from './rule-table.tsx';
import { DEFAULTS_SENTENCE } from './rule-words.ts';
import { SelectionBar } from './selection-bar.tsx';
import { type RuleActions, useRuleActions } from './use-rule-actions.ts';
import type { ReadRules } from './use-rules.ts';

/** Number of rows that "show more" adds. */
const ROWS_AT_ONCE = 50;

const NO_CONFLICTS: ReadonlyMap<string, Conflict> = new Map();
const NO_DEVICES: readonly Device[] = [];

const HistoryDialog = lazyPart(async () => (await import('./history-dialog.tsx')).HistoryDialog);
const ExportDialog = lazyPart(async () => (await import('./export-dialog.tsx')).ExportDialog);
const ImportDialog = lazyPart(async () => (await import('./import-dialog.tsx')).ImportDialog);

type Dialog = 'history' | 'import' | 'export';

interface RulesCardProps {
  read: ReadRules;
  /** Rules without an effect, by id; undefined before the analysis. */
  conflicts: ReadonlyMap<string, Conflict> | undefined;
  /** Devices that are not revoked; undefined while loading. */
  devices: readonly Device[] | undefined;
  onAdd: () => void;
}

export function RulesCard({ read, conflicts = NO_CONFLICTS, devices = NO_DEVICES, onAdd }: RulesCardProps) {
  const { rules, total = 0, isWhole, error, refetch, want } = read;
  const actions = useRuleActions();
  const { dialog, setDialog, target } = useDialog(want);
  const selection = useSelection();
  const asked = useAsked('rule');
  const { choice, choose, found, shown, left, showMore, show } = useChosen(read, conflicts, asked.id, selection.clear);
  const counts = useRuleCounts(devices);
  const byId = useMemo(() => new Map(rules?.map((rule) => [rule.id, rule])), [rules]);
  const isGone = asked.id !== null && isWhole && !byId.has(asked.id);
  const body = useFocusAfterDeletion(found);
  const selected = found?.filter(({ id }) => selection.ids.has(id)) ?? [];
  function changeSelected(change: RuleChange) {
    actions.changeMany(selected, change);
    selection.clear();
  }
  const [edited, setEdited] = useEdited(rules, isWhole, actions.tell);
  return (
    <RefreshedCard title="Rules" onRefresh={refetch}>
      {(refresh) => (
        <div ref={body} className="rules" data-selecting={selection.isOn}>
          <p className="sub">
            {devices.length === 0
              ? `On a computer that uses them, a block always wins over an allow. ${DEFAULTS_SENTENCE}`
              : 'A block always wins over an allow. Without a matching rule, each device uses its default.'}
          </p>
          <RuleTools
            total={total}
            onWant={want}
            onOpen={setDialog}
            onSelect={choice.state === 'odd' ? undefined : selection.begin}
          />
          <Refusal error={isGone}>The rule of this link was deleted.</Refusal>
          <ActionOutcome actions={actions} />
          {needsFilters(total, choice !== EVERY_RULE || conflicts.size > 0) && rules && (
            <RuleFilters
              choice={choice}
              total={total}
              counts={{
                // With many rules this count would arrive later and move other content, so it is omitted.
                on: total <= FIRST_RULES ? rules.filter(({ enabled }) => enabled).length : undefined,
                odd: conflicts.size,
              }}
              onChange={choose}
            />
          )}
          <Listed
            of="the rules"
            isSliced
            list={{ rows: found, error, refetch: refresh }}
            empty={
              choice.state === 'odd' && conflicts.size === 0 ? (
                <NoConflicts onShowAll={() => choose(EVERY_RULE)} />
              ) : rules && rules.length > 0 ? (
                <NoMatch onShowAll={() => choose(EVERY_RULE)} />
              ) : (
                <NoRules onAdd={onAdd} />
              )
            }
          >
            {(rows) =>
              choice.state === 'odd' ? (
                <ConflictGroups
                  conflicts={rows.flatMap(({ id }) => conflicts.get(id) ?? [])}
                  rules={rules ?? rows}
                  isBusy={actions.busy.size > 0}
                  onDelete={(needless) => actions.changeMany(needless, 'delete')}
                  onShow={show}
                />
              ) : (
                <RuleTable
                  rules={rows.slice(0, shown)}
                  byId={byId}
                  asked={asked}
                  all={isWhole ? rules : undefined}
                  conflicts={conflicts}
                  actions={actions}
                  devices={devices}
                  counts={counts}
                  onShow={show}
                  edited={edited}
                  onEdit={(rule) => {
                    if (rule) want();
                    setEdited(rule);
                  }}
                  selected={selection.ids}
                  onSelect={selection.toggle}
                  areAllSelected={rows.length > 0 && selected.length === rows.length}
                  onSelectAll={(isSelected) => (isSelected ? selection.select(rows) : selection.clear())}
                />
              )
            }
          </Listed>
          {found && selection.isOn && choice.state !== 'odd' && (
            <SelectionBar
              selected={selected.length}
              total={found.length}
              isBusy={actions.busy.size > 0}
              onChange={changeSelected}
              onAll={() => selection.select(found)}
              onClear={selection.clear}
            />
          )}
          {found && left > 0 && choice.state !== 'odd' && (
            <ShowMore left={left} loading={shown > FIRST_RULES && !isWhole} onMore={showMore} />
          )}
          <RuleDialog
            dialog={dialog}
            rules={isWhole ? rules : undefined}
            total={total}
            target={target}
            onClose={() => setDialog(undefined)}
          />
        </div>
      )}
    </RefreshedCard>
  );
}

/** The listed rules: filtered, sorted, and limited to the shown number. Calls `onChoose` with each new filter. */
function useChosen(
  { rules, total = 0, isWhole, want }: ReadRules,
  conflicts: ReadonlyMap<string, Conflict>,
  asked_id: string | null,
  onChoose: () => void,
) {
  const [choice, setChoice] = useState(EVERY_RULE);
  const [least, setShown] = useState(FIRST_RULES);
  const placeOf = (rule_id: string | null) => rules?.findIndex(({ id }) => id === rule_id) ?? -1;
  const shown = Math.max(least, placeOf(asked_id) + 1);
  useEffect(() => {
    if (asked_id !== null) want();
  }, [asked_id, want]);
  const isNarrowed = choice !== EVERY_RULE;
  // Filters and sorting need all rules.
  const found = rules && (isNarrowed && !isWhole ? undefined : chosenOf(rules, conflicts, choice));
  return {
    choice,
    found,
    shown,
    left: (isNarrowed ? (found?.length ?? 0) : total) - shown,
    choose(next: RuleChoice) {
      want();
      setChoice(next);
      setShown(FIRST_RULES);
      onChoose();
    },
    showMore() {
      want();
      setShown(shown + ROWS_AT_ONCE);
    },
    /** Shows a rule, resetting the filter if it hides the rule. */
    show(rule_id: string) {
      if (goToRule(rule_id)) return;
      flushSync(() => {
        setChoice(EVERY_RULE);
        setShown(Math.max(FIRST_RULES, placeOf(rule_id) + 1));
      });
      goToRule(rule_id);
    },
  };
}

/** The open dialog. The address may open the export for another firewall. */
function useDialog(want: () => void) {
  const [search, setSearch] = useSearchParams();
  const target = search.get('export');
  const [chosen, setDialog] = useState<Dialog>();
  const isAsked = target !== null;
  useEffect(() => {
    if (isAsked) want();
  }, [isAsked, want]);
  return {
    dialog: chosen ?? (isAsked ? 'export' : undefined),
    target,
    setDialog(next: Dialog | undefined) {
      setDialog(next);
      if (next === undefined && target !== null) setSearch({}, { replace: true, preventScrollReset: true });
    },
  };
}

/** Rules selected for a common change. `isOn` from the first selection or from Select until Done. */
function useSelection() {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isBegun, setIsBegun] = useState(false);
  return {
    ids,
    isOn: isBegun || ids.size > 0,
    begin: () => setIsBegun(true),
    toggle: (id: string) =>
      setIds((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]))),
    select: (rules: readonly Rule[]) => setIds(new Set(rules.map(({ id }) => id))),
    clear: () => {
      setIds(new Set());
      setIsBegun(false);
    },
  };
}

/** The rule that is being edited. If another page deletes the rule, its form disappears and `tell` reports it. */
function useEdited(rules: readonly Rule[] | undefined, isWhole: boolean, tell: RuleActions['tell']) {
  const [edited, setEdited] = useState<Rule>();
  const isGone = edited !== undefined && isWhole && rules?.every(({ id }) => id !== edited.id) === true;
  useEffect(() => {
    if (!isGone) return;
    setEdited(undefined);
    tell(`“${edited.rule_name}” was deleted in another window.`);
  }, [isGone, edited, tell]);
  return [edited, setEdited] as const;
}

interface RuleToolsProps {
  total: number;
  onWant: () => void;
  onOpen: (dialog: Dialog) => void;
  /** Undefined if no list is shown. */
  onSelect: (() => void) | undefined;
}

function RuleTools({ total, onWant, onOpen, onSelect }: RuleToolsProps) {
  return (
    <Row gap="0" phone="pairs" className="rules__tools">
      <Button variant="text" size="s" icon={IconHistory} onClick={() => onOpen('history')}>
        History
      </Button>
      <Button variant="text" size="s" icon={IconUpload} onClick={() => onOpen('import')}>
        Import
      </Button>
      {total > 0 && (
        <Button
          variant="text"
          size="s"
          icon={IconDownload}
          onClick={() => {
            onWant();
            onOpen('export');
          }}
        >
          Export
        </Button>
      )}
      {/* Last, because it appears later than the others and would move them. */}
      {total > 1 && onSelect && (
        <Button variant="text" size="s" data-select="" icon={IconListCheck} onClick={onSelect}>
          Select
        </Button>
      )}
    </Row>
  );
}

/** Result of the last action with an undo button, or the reason of its failure. */
function ActionOutcome({ actions: { failure, notice, canUndo, isUndoing, undo } }: { actions: RuleActions }) {
  return (
    <>
      {failure && <ErrorNotice title={failure.title} sentence={failure.sentence} onRetry={failure.retry} />}
      <Row
        justify="between"
        gap="3"
        rowGap="1"
        className={canUndo ? 'rules__done surface-sunken pad-s base break' : 'visually-hidden'}
      >
        <p role="status">{notice}</p>
        {canUndo && (
          <Button variant="text" size="s" icon={IconArrowBackUp} loading={isUndoing} onClick={undo}>
            Undo
          </Button>
        )}
      </Row>
    </>
  );
}

function NoMatch({ onShowAll }: { onShowAll: () => void }) {
  return (
    <NothingMatches title="No matching rules" sentence="Try another search or filter." all="Show all rules" onAll={onShowAll} />
  );
}

function NoConflicts({ onShowAll }: { onShowAll: () => void }) {
  return (
    <EmptyState
      icon={IconChecks}
      title="No conflicts"
      sentence="Every enabled rule has an effect."
      action={
        <Button variant="quiet" onClick={onShowAll}>
          Show all rules
        </Button>
      }
    />
  );
}

function NoRules({ onAdd }: { onAdd: () => void }) {
  return (
    <EmptyState
      icon={IconWall}
      drawing={<Drawing of="wall" />}
      title="No firewall rules yet"
      sentence="A rule allows or blocks traffic by address and port. Add one to start."
      action={
        <Button variant="quiet" onClick={onAdd}>
          Add First Rule
        </Button>
      }
    />
  );
}

interface RuleDialogProps {
  dialog: Dialog | undefined;
  /** Undefined until all rules are loaded. */
  rules: readonly Rule[] | undefined;
  total: number;
  /** The initial target of the export. */
  target: string | null;
  onClose: () => void;
}

function RuleDialog({ dialog, rules, total, target, onClose }: RuleDialogProps) {
  return (
    <>
      {dialog === 'history' && <HistoryDialog onClose={onClose} />}
      {dialog === 'export' && <ExportDialog rules={rules} first={target} onClose={onClose} />}
      {dialog === 'import' && <ImportDialog total={total} onClose={onClose} />}
    </>
  );
}

/** Packets that each rule decided, summed over all devices; undefined without a device. */
function useRuleCounts(devices: readonly Device[]): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery({ ...ruleCountsQuery, enabled: devices.length > 0 });
  return useMemo(() => {
    if (!data) return undefined;
    const sums = new Map<string, number>();
    for (const { of, packets } of data) sums.set(of, (sums.get(of) ?? 0) + packets);
    return sums;
  }, [data]);
}

/** After a deletion, moves the focus from the removed row to the next row, or to the button of the empty list. */
function useFocusAfterDeletion(rules: readonly Rule[] | undefined) {
  const body = useRef<HTMLDivElement>(null);
  const before = useRef<readonly Rule[]>([]);
  useEffect(() => {
    const gone = before.current.findIndex((rule) => !rules?.includes(rule));
    const isShorter = rules !== undefined && rules.length < before.current.length;
    before.current = rules ?? [];
    if (!isShorter || document.activeElement !== document.body) return;
    const buttons = [...(body.current?.querySelectorAll<HTMLElement>('[data-delete], .empty-state button') ?? [])];
    buttons.at(Math.min(gone, buttons.length - 1))?.focus();
  }, [rules]);
  return body;
}
