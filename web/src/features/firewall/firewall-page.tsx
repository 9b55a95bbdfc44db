import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { devicesQuery, livingOf } from '#domain/device/devices.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Page } from '#ui/page.tsx';
import { BlockedCard } from './blocked-card.tsx';
import { FirewallStats } from './firewall-stats.tsx';
import { RulesCard } from './rules-card.tsx';
import { Summary } from './summary.tsx';
import { Tester } from './tester.tsx';
import { useConflicts, useRules } from './use-rules.ts';

const loadDialog = () => import('./add-rule-dialog.tsx');
/** Loaded on demand, because most visits only read. */
const AddRuleDialog = lazyPart(async () => (await loadDialog()).AddRuleDialog);

export function FirewallPage() {
  const read = useRules();
  const { rules, total, isWhole, error, want } = read;
  const conflicts = useConflicts(rules, isWhole);
  const { data: all, error: devicesError } = useQuery(devicesQuery);
  const devices = useMemo(() => all && livingOf(all), [all]);
  const hasDevices = devices !== undefined && devices.length > 0;
  // The words above the cards depend on the devices and the rules, and would push the cards down.
  const isKnown = (devices !== undefined || devicesError !== null) && (total !== undefined || error !== null);
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
    // The first rule removes the button of the empty list.
    const target = opener.current instanceof HTMLElement && opener.current.isConnected ? opener.current : addButton.current;
    target?.focus();
  }

  return (
    <Page title="Firewall" sentence="Control which connections your devices accept and make.">
      <Summary
        devices={isKnown ? devices : undefined}
        isUnknown={isKnown && devicesError !== null}
        addButton={addButton}
        onAdd={open}
      />
      {isKnown && (
        <>
          <FirewallStats
            devices={devices}
            total={total}
            active={isWhole ? rules?.filter((rule) => rule.enabled).length : undefined}
            conflicts={conflicts?.size}
          />
          <RulesCard read={read} conflicts={conflicts} devices={devices} onAdd={open} />
          {hasDevices && rules && <BlockedCard devices={devices} rules={isWhole ? rules : undefined} onWant={want} />}
          {/* Rendered after the list, which would push it down. */}
          {(rules || error) && <Tester rules={isWhole ? rules : undefined} onWant={want} />}
        </>
      )}
      {isAdding && <AddRuleDialog rules={isWhole ? rules : undefined} onClose={close} />}
    </Page>
  );
}
