import type { Rule } from '@palisade/contract/firewall';
import { type Finding, findings as findingsOf } from '@palisade/contract/firewall-verdict';
import { IconAlertTriangle, IconCloudOff, IconPlus, IconWall } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Lead } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { rulesQuery } from './firewall.queries.ts';
import { FirewallStats } from './firewall-stats.tsx';
import { RulesCard } from './rules-card.tsx';
import { Tester } from './tester.tsx';

const loadDialog = () => import('./add-rule-dialog.tsx');
/** Comes when it is first wanted: most visits only read. */
const AddRuleDialog = lazy(async () => ({ default: (await loadDialog()).AddRuleDialog }));

export function FirewallPage() {
  const { data: rules, error, refetch } = useQuery(rulesQuery);
  const findings = useMemo(() => (rules ? findingsOf(rules) : []), [rules]);
  const [isAdding, setIsAdding] = useState(false);
  const addButton = useRef<HTMLButtonElement>(null);
  const opener = useRef<Element | null>(null);

  function open() {
    opener.current = document.activeElement;
    setIsAdding(true);
  }

  function close() {
    setIsAdding(false);
    // The button of the empty list is gone after the first rule.
    const target = opener.current instanceof HTMLElement && opener.current.isConnected ? opener.current : addButton.current;
    target?.focus();
  }

  return (
    <Page title="Firewall" sentence="Decide who may reach your devices, and what your devices may send.">
      <Summary rules={rules} findings={findings} isUnknown={!rules && error !== null}>
        <Button ref={addButton} size="l" icon={<IconPlus size={18} stroke={2} aria-hidden="true" />} onClick={open}>
          Add Rule
        </Button>
      </Summary>
      <FirewallStats rules={rules} />
      <RulesCard rules={rules} findings={findings} error={error} refetch={refetch} onAdd={open} />
      {/* Below a list that is on its way it would be pushed down. */}
      {(rules || error) && <Tester rules={rules} />}
      {isAdding && (
        <Suspense>
          <AddRuleDialog onClose={close} />
        </Suspense>
      )}
    </Page>
  );
}

interface Answer {
  tone: 'attention' | 'unknown';
  sentence: string;
}

/** What the rules by themselves come to. No tone is teal: nothing applies them. */
function answerOf(rules: readonly Rule[] | undefined, odd: number, isUnknown: boolean): Answer {
  if (isUnknown) return { tone: 'unknown', sentence: 'Your rules could not be read.' };
  // About as long as what comes in its place, so that nothing below moves.
  if (!rules) return { tone: 'unknown', sentence: 'Reading your rules, to see if one needs a look…' };
  if (rules.length === 0) return { tone: 'unknown', sentence: 'You have no rules of your own yet.' };
  if (odd > 0) return { tone: 'attention', sentence: odd === 1 ? 'One rule needs a look.' : `${odd} rules need a look.` };
  if (!rules.some((rule) => rule.enabled)) return { tone: 'attention', sentence: 'All your rules are off.' };
  return {
    tone: 'unknown',
    sentence: rules.length === 1 ? 'Nothing is wrong with your rule.' : 'No rule repeats or contradicts another one.',
  };
}

const ICONS = { attention: IconAlertTriangle, unknown: IconWall } as const;

interface SummaryProps {
  rules: readonly Rule[] | undefined;
  findings: readonly Finding[];
  isUnknown: boolean;
  children: React.ReactNode;
}

/** The answer first, then what to do. */
function Summary({ rules, findings, isUnknown, children }: SummaryProps) {
  const odd = new Set(findings.map(({ rule_id }) => rule_id)).size;
  const { tone, sentence } = answerOf(rules, odd, isUnknown);
  const Icon = isUnknown ? IconCloudOff : ICONS[tone];
  return (
    <Lead
      tone={tone}
      icon={<Icon size={28} stroke={1.7} />}
      title="Nothing applies your rules yet."
      sentence={`${sentence} Your rules are kept here. They block nothing until a device with the Palisade agent is connected, and none is.`}
      action={children}
    />
  );
}
