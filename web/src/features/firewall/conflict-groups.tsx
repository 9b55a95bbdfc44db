import type { Rule } from '@palisade/contract/firewall';
import type { Conflict } from '@palisade/contract/firewall-advice';
import { formatNumber, plural } from '@palisade/contract/intl';
import { type ReactNode, useState } from 'react';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { ruleSentence } from './rule-sentence.ts';
import { describeDecider, FINDINGS } from './rule-words.ts';
import './conflict-groups.css';

/** Number of groups before "show more". */
const SHOWN = 20;

interface ConflictGroupsProps {
  conflicts: readonly Conflict[];
  rules: readonly Rule[];
  isBusy: boolean;
  onDelete: (rules: readonly Rule[]) => void;
  /** Shows a rule in the list of all rules. */
  onShow: (rule_id: string) => void;
}

/** Rules without effect, grouped by the rule that overrides them, each with a suggested change. */
export function ConflictGroups({ conflicts, rules, isBusy, onDelete, onShow }: ConflictGroupsProps) {
  const [shown, setShown] = useState(SHOWN);
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const needless = conflicts.flatMap(({ needless_id }) => byId.get(needless_id) ?? []);
  const groups = [...Map.groupBy(conflicts, ({ kept_id }) => kept_id)];
  return (
    <Stack gap="3" className="conflicts">
      <Row justify="between" gap="3">
        <div>
          <p className="bold">
            {plural(needless.length, {
              one: '1 rule has no effect.',
              other: `${formatNumber(needless.length)} rules have no effect.`,
            })}
          </p>
          <p className="sub">
            {plural(needless.length, {
              one: 'Delete it to clean up. Your traffic stays the same.',
              other: 'Delete them to clean up. Your traffic stays the same.',
            })}
          </p>
        </div>
        {needless.length > 1 && (
          <Button loading={isBusy} onClick={() => onDelete(needless)}>{`Delete all ${formatNumber(needless.length)}`}</Button>
        )}
      </Row>
      {groups.slice(0, shown).map(([kept_id, members]) => (
        <ConflictGroup
          key={kept_id ?? 'none'}
          kept={byId.get(kept_id ?? '')}
          members={members}
          byId={byId}
          isBusy={isBusy}
          onDelete={onDelete}
          onShow={onShow}
        />
      ))}
      {groups.length > shown && <ShowMore left={groups.length - shown} onMore={() => setShown(shown + SHOWN)} />}
    </Stack>
  );
}

interface ConflictGroupProps extends Pick<ConflictGroupsProps, 'isBusy' | 'onDelete' | 'onShow'> {
  kept: Rule | undefined;
  members: readonly Conflict[];
  byId: ReadonlyMap<string, Rule>;
}

function ConflictGroup({ kept, members, byId, isBusy, onDelete, onShow }: ConflictGroupProps) {
  const label = kept === undefined ? 'Rules that match no traffic' : `Conflicts with ${kept.rule_name}`;
  return (
    <Stack as="section" lines className="surface-plain" aria-label={label}>
      {kept === undefined ? (
        <p className="medium pad-m">{label}</p>
      ) : (
        <Grid gap="4" rowGap="1" align="start" className="conflict__rule pad-m">
          <Badge tone="safe">Keep</Badge>
          <RuleWords rule={kept} onShow={onShow}>
            <p className="sub small break">{ruleSentence(kept)}</p>
          </RuleWords>
        </Grid>
      )}
      <Stack as="ul" lines>
        {members.map(({ kind, needless_id, reason }) => {
          const rule = byId.get(needless_id);
          if (rule === undefined) return null;
          return (
            <Grid key={needless_id} as="li" gap="4" rowGap="1" align="start" className="conflict__rule pad-m">
              <Badge tone="attention">{FINDINGS[kind]}</Badge>
              <RuleWords rule={rule} onShow={onShow}>
                <p className="amber small break">
                  {kept ? <Sentence text={describeDecider(rule, kept)} parts={{ rule: <bdi>{kept.rule_name}</bdi> }} /> : reason}
                </p>
              </RuleWords>
              <Button
                size="s"
                variant="quiet"
                disabled={isBusy}
                aria-label={`Delete ${rule.rule_name}`}
                onClick={() => onDelete([rule])}
              >
                Delete
              </Button>
            </Grid>
          );
        })}
      </Stack>
    </Stack>
  );
}

interface RuleWordsProps {
  rule: Rule;
  onShow: (rule_id: string) => void;
  /** The effect of the rule. */
  children: ReactNode;
}

function RuleWords({ rule, onShow, children }: RuleWordsProps) {
  return (
    <div>
      <button type="button" className="bare medium break" title="Show in the list" onClick={() => onShow(rule.id)}>
        <bdi>{rule.rule_name}</bdi>
      </button>
      {children}
    </div>
  );
}
