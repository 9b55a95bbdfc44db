import { IconCloudOff, IconPlus, IconWall } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Lead } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { FirewallStats } from './firewall-stats.tsx';
import { RulesCard } from './rules-card.tsx';
import { Tester } from './tester.tsx';
import { useFindings, useRules } from './use-rules.ts';

const loadDialog = () => import('./add-rule-dialog.tsx');
/** Comes when it is first wanted: most visits only read. */
const AddRuleDialog = lazy(async () => ({ default: (await loadDialog()).AddRuleDialog }));

export function FirewallPage() {
  const read = useRules();
  const { rules, total, isWhole, error, want } = read;
  const findings = useFindings(rules, isWhole);
  const [isAdding, setIsAdding] = useState(false);
  const addButton = useRef<HTMLButtonElement>(null);
  const opener = useRef<Element | null>(null);

  function open() {
    opener.current = document.activeElement;
    want();
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
      <Summary isUnknown={!rules && error !== null}>
        <Button ref={addButton} size="l" icon={<IconPlus size={18} stroke={2} aria-hidden="true" />} onClick={open}>
          Add Rule
        </Button>
      </Summary>
      <FirewallStats
        total={total}
        active={isWhole ? rules?.filter((rule) => rule.enabled).length : undefined}
        odd={findings && new Set(findings.map(({ rule_id }) => rule_id)).size}
      />
      <RulesCard read={read} findings={findings} onAdd={open} />
      {/* Below a list that is on its way it would be pushed down. */}
      {(rules || error) && <Tester rules={isWhole ? rules : undefined} onWant={want} />}
      {isAdding && (
        <Suspense>
          <AddRuleDialog rules={isWhole ? rules : undefined} onClose={close} />
        </Suspense>
      )}
    </Page>
  );
}

/** The answer first, then what to do. Its words do not hang on the rules, so that nothing moves when they come. */
function Summary({ isUnknown, children }: { isUnknown: boolean; children: ReactNode }) {
  const Icon = isUnknown ? IconCloudOff : IconWall;
  return (
    <Lead
      tone="unknown"
      icon={<Icon size={28} stroke={1.7} />}
      title="Nothing applies your rules yet."
      sentence="Your rules are kept here. They block nothing until a device with the Palisade agent is connected, and none is."
      action={children}
    />
  );
}
