import type { Rule } from '@palisade/contract/firewall';
import type { Finding } from '@palisade/contract/firewall-verdict';
import { IconRefresh, IconWall } from '@tabler/icons-react';
import { useEffect, useRef, useTransition } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
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
  const [isRefreshing, startRefresh] = useTransition();
  const actions = useRuleActions();
  const body = useFocusAfterDeletion(rules);
  const refresh = () =>
    startRefresh(async () => {
      await refetch();
    });
  return (
    <Card
      title="Rules"
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconRefresh size={16} stroke={1.7} aria-hidden="true" />}
          loading={isRefreshing}
          onClick={refresh}
        >
          Refresh
        </Button>
      }
    >
      <div ref={body} className="rules">
        <p className="sub rules__note">A block always wins over an allow. {DEFAULTS_SENTENCE}</p>
        {error && <ErrorNotice title="The rules could not be read" sentence={sentenceOf(error)} onRetry={refresh} />}
        {actions.failure && (
          <ErrorNotice title={actions.failure.title} sentence={actions.failure.sentence} onRetry={actions.failure.retry} />
        )}
        {!rules && !error && <LoadingRows label="Loading the rules" />}
        {rules?.length === 0 && (
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
        )}
        {rules && rules.length > 0 && <RuleTable rules={rules} findings={findings} actions={actions} />}
        <p role="status" className="visually-hidden">
          {actions.notice}
        </p>
      </div>
    </Card>
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
