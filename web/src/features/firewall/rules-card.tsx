import type { Rule } from '@palisade/contract/firewall';
import type { Finding } from '@palisade/contract/firewall-verdict';
import { IconWall } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Button } from '#ui/button.tsx';
import { Listed } from '#ui/listed.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { EmptyState, ErrorNotice } from '#ui/states.tsx';
import { RuleTable } from './rule-table.tsx';
import { DEFAULTS_SENTENCE } from './rule-words.ts';
import { useRuleActions } from './use-rule-actions.ts';

interface RulesCardProps {
  rules: readonly Rule[] | undefined;
  findings: readonly Finding[];
  error: Error | null;
  refetch: () => Promise<unknown>;
  onAdd: () => void;
}

export function RulesCard({ rules, findings, error, refetch, onAdd }: RulesCardProps) {
  const actions = useRuleActions();
  const body = useFocusAfterDeletion(rules);
  return (
    <RefreshedCard title="Rules" onRefresh={refetch}>
      {(refresh) => (
        <div ref={body} className="rules">
          <p className="sub rules__note">Once a device applies them, a block always wins over an allow. {DEFAULTS_SENTENCE}</p>
          {actions.failure && (
            <ErrorNotice title={actions.failure.title} sentence={actions.failure.sentence} onRetry={actions.failure.retry} />
          )}
          <Listed
            what="the rules"
            rows={rules}
            error={error}
            onRetry={refresh}
            empty={
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
            }
          >
            {(rows) => <RuleTable rules={rows} findings={findings} actions={actions} />}
          </Listed>
          <p role="status" className="visually-hidden">
            {actions.notice}
          </p>
        </div>
      )}
    </RefreshedCard>
  );
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
