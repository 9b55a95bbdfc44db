import type { Rule } from '@palisade/contract/firewall';
import type { Finding } from '@palisade/contract/firewall-verdict';
import { IconSearch, IconWall } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Button } from '#ui/button.tsx';
import { Listed } from '#ui/listed.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, ErrorNotice } from '#ui/states.tsx';
import { chosenOf, EVERY_RULE, type RuleChoice, RuleFilters } from './rule-filters.tsx';
import { goToRule, RuleTable } from './rule-table.tsx';
import { DEFAULTS_SENTENCE } from './rule-words.ts';
import { useRuleActions } from './use-rule-actions.ts';

/** Rows that are shown at once; more on demand. */
const ROWS_AT_ONCE = 50;

interface RulesCardProps {
  rules: readonly Rule[] | undefined;
  findings: readonly Finding[];
  error: Error | null;
  refetch: () => Promise<unknown>;
  onAdd: () => void;
}

export function RulesCard({ rules, findings, error, refetch, onAdd }: RulesCardProps) {
  const actions = useRuleActions();
  const [choice, setChoice] = useState(EVERY_RULE);
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const found = rules && chosenOf(rules, choice);
  const body = useFocusAfterDeletion(found);
  const choose = (next: RuleChoice) => {
    setChoice(next);
    setShown(ROWS_AT_ONCE);
  };
  function show(rule_id: string) {
    if (goToRule(rule_id)) return;
    const place = rules?.findIndex(({ id }) => id === rule_id) ?? -1;
    flushSync(() => {
      setChoice(EVERY_RULE);
      setShown(Math.max(ROWS_AT_ONCE, place + 1));
    });
    goToRule(rule_id);
  }
  return (
    <RefreshedCard title="Rules" onRefresh={refetch}>
      {(refresh) => (
        <div ref={body} className="rules">
          <p className="sub rules__note">Once a device applies them, a block always wins over an allow. {DEFAULTS_SENTENCE}</p>
          {actions.failure && (
            <ErrorNotice title={actions.failure.title} sentence={actions.failure.sentence} onRetry={actions.failure.retry} />
          )}
          {rules && rules.length > 0 && <RuleFilters choice={choice} rules={rules} onChange={choose} />}
          <Listed
            what="the rules"
            rows={found}
            error={error}
            onRetry={refresh}
            empty={
              rules && rules.length > 0 ? (
                <EmptyState
                  icon={<IconSearch size={28} stroke={1.7} />}
                  title="No rule matches"
                  sentence="None of your rules is like this."
                  action={
                    <Button variant="quiet" onClick={() => choose(EVERY_RULE)}>
                      Show all rules
                    </Button>
                  }
                />
              ) : (
                <EmptyState
                  icon={<IconWall size={28} stroke={1.7} />}
                  title="No firewall rules yet"
                  sentence="A rule allows or blocks traffic by where it comes from, where it goes, and the port it asks for."
                  action={
                    <Button variant="quiet" onClick={onAdd}>
                      Add First Rule
                    </Button>
                  }
                />
              )
            }
          >
            {(rows) => (
              <RuleTable
                rules={rows.slice(0, shown)}
                names={namesOf(rules ?? rows)}
                findings={findings}
                actions={actions}
                onShow={show}
              />
            )}
          </Listed>
          {found && found.length > shown && (
            <ShowMore left={found.length - shown} onMore={() => setShown(shown + ROWS_AT_ONCE)} />
          )}
          <p role="status" className="visually-hidden">
            {actions.notice}
          </p>
        </div>
      )}
    </RefreshedCard>
  );
}

function namesOf(rules: readonly Rule[]): ReadonlyMap<string, string> {
  return new Map(rules.map((rule) => [rule.id, rule.rule_name]));
}

/** A button that goes with its row takes the focus along: it moves to the row that came in its place, or to the button of the empty list. */
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
