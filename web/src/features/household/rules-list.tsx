import type { ProfileRules } from '@palisade/contract/household';
import type { WebProtection } from '@palisade/contract/web-protection';
import { Stack } from '#ui/layout.tsx';
import { listlessWords, rulesWords } from './rule-words.ts';

interface RulesListProps {
  rules: ProfileRules;
  web: Pick<WebProtection, 'categories' | 'services'>;
}

/** Rules as sentences, those without effect first. */
export function RulesList({ rules, web }: RulesListProps) {
  const listless = listlessWords(rules, web);
  return (
    <Stack as="ul" gap="1">
      {listless !== undefined && <li className="amber">{listless}</li>}
      {rulesWords(rules, web).map((words) => (
        <li key={words}>{words}</li>
      ))}
    </Stack>
  );
}
