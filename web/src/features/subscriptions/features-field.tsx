import { TextInput } from '@mantine/core';
import { FEATURE_LENGTH_MAXIMUM, FEATURES_MAXIMUM } from '@palisade/contract/subscription';
import { IconCheck, IconPlus, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useId, useRef } from 'react';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { enterMeans } from '#ui/pressed.ts';
import type { PlanDraft } from './drafts.ts';

interface FeaturesFieldProps {
  draft: PlanDraft;
  error: string | undefined;
  onChange: (change: Partial<PlanDraft>) => void;
}

/** A list of unique, trimmed, non-empty texts. */
export function FeaturesField({ draft, error, onChange }: FeaturesFieldProps) {
  const { features, feature: text } = draft;
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const feature = text.trim();
  const isThere = features.includes(feature);
  const isFull = features.length >= FEATURES_MAXIMUM;

  function add() {
    input.current?.focus();
    if (feature === '' || isThere || isFull) return;
    onChange({ features: [...features, feature], feature: '' });
  }

  function press(event: KeyboardEvent) {
    if (!enterMeans(event)) return;
    // Enter adds a feature; it must not submit an unfinished list.
    event.preventDefault();
    add();
  }

  return (
    <Stack gap="3">
      <Grid columns="tail" gap="2" align="end">
        <TextInput
          ref={input}
          label="Features"
          placeholder="Add a feature"
          size="md"
          maxLength={FEATURE_LENGTH_MAXIMUM}
          value={text}
          error={error ?? (isThere ? 'This feature is already in the list.' : undefined)}
          onChange={(event) => onChange({ feature: event.currentTarget.value })}
          onKeyDown={press}
        />
        <Button variant="quiet" icon={IconPlus} iconSize={16} aria-controls={listId} disabled={isFull} onClick={add}>
          Add
        </Button>
      </Grid>
      <Stack id={listId} aria-label="Features of this plan" as="ul" gap="1" className="off-empty">
        {features.map((item) => (
          <Row as="li" wrap={false} gap="2" className="surface-sunken pad-xs base" key={item}>
            <IconCheck className="fixed accent" size={16} stroke={2} aria-hidden="true" />
            <bdi className="grow shrink break">{item}</bdi>
            <button
              type="button"
              className="icon-button"
              aria-label={`Remove ${item}`}
              title="Remove"
              onClick={() => {
                onChange({ features: features.filter((other) => other !== item) });
                input.current?.focus();
              }}
            >
              <IconX size={16} stroke={1.7} aria-hidden="true" />
            </button>
          </Row>
        ))}
      </Stack>
    </Stack>
  );
}
