import { TextInput } from '@mantine/core';
import { DEVICE_NAME_MAXIMUM } from '@palisade/contract/device-name';
import { AGE_GROUPS, type Household, PROFILE_PICTURES, type Profile } from '@palisade/contract/household';
import type { WebProtection } from '@palisade/contract/web-protection';
import { IconTrash } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { ProfileFace } from '#domain/household/profile-face.tsx';
import { RuleChoices } from '#domain/web-device/rule-choices.tsx';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form } from '#ui/form.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useChangeProfile, useRemoveProfile } from './household.queries.ts';
import { AGES } from './rule-words.ts';
import { SharedBy } from './shared-by.tsx';
import { TimesFields } from './times-fields.tsx';
import { TryField } from './try-field.tsx';

type Draft = Pick<Profile, 'name' | 'picture' | 'age_group' | 'shared_by' | 'rules'>;

interface DraftProps {
  draft: Draft;
  onChange: (changed: Partial<Draft>) => void;
}

function PersonFields({ draft, onChange }: DraftProps) {
  const { name, picture, age_group } = draft;
  return (
    <>
      <TextInput
        label="Name"
        size="md"
        required
        withAsterisk={false}
        maxLength={DEVICE_NAME_MAXIMUM}
        value={name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Choice
        label="Age"
        description="Another age keeps the rules below."
        size="md"
        value={age_group}
        data={AGE_GROUPS.map((value) => ({ value, label: AGES[value].title }))}
        onChange={({ currentTarget: { value } }) => {
          const age = AGE_GROUPS.find((one) => one === value);
          if (age !== undefined) onChange({ age_group: age });
        }}
      />
      <Row as="fieldset" gap="2" className="shrink bare" aria-label="Picture">
        {PROFILE_PICTURES.map((one) => (
          <button
            key={one}
            type="button"
            aria-label={one}
            aria-pressed={one === picture}
            className={`bare rounded pad-xs ${one === picture ? 'surface-accent' : ''}`}
            onClick={() => onChange({ picture: one })}
          >
            <ProfileFace picture={one} />
          </button>
        ))}
      </Row>
    </>
  );
}

interface ProfileDialogProps {
  profile: Profile;
  home: Household;
  web: Pick<WebProtection, 'categories' | 'services'>;
  onClose: () => void;
}

/** Edits a person and their rules. The test field evaluates the edited rules before they are saved. */
export function ProfileDialog({ profile, home, web, onClose }: ProfileDialogProps) {
  const [draft, setDraft] = useState<Draft>(() => {
    const { name, picture, age_group, shared_by, rules } = profile;
    return { name, picture, age_group, shared_by, rules };
  });
  const save = useChangeProfile();
  const remove = useRemoveProfile();
  const form = useId();
  const { rules } = draft;
  function change(changed: Partial<Draft>) {
    setDraft({ ...draft, ...changed });
    if (!save.isPending) save.reset();
  }
  function submit() {
    const { rules: edited, ...person } = draft;
    // A shared computer shows rules combined with those of its people, so unchanged ones must not be sent.
    const changed = edited === profile.rules ? {} : { rules: edited };
    save.mutate({ id: profile.id, ...person, ...changed }, { onSuccess: onClose });
  }
  return (
    <ModalWindow title={`Rules for ${profile.name}`} size={680} onClose={onClose}>
      <Form id={form} gap="4" error={save.error} busy={save.isPending} onSubmit={submit}>
        <PersonFields draft={draft} onChange={change} />
        <SharedBy
          profiles={home.profiles.filter(({ id }) => id !== profile.id)}
          chosen={draft.shared_by}
          onChange={(shared_by) => change({ shared_by })}
        />
        <DialogPart title="What to block">
          <Stack gap="4">
            <RuleChoices web={web} policy={rules} onChange={(policy) => change({ rules: { ...rules, ...policy } })} />
          </Stack>
        </DialogPart>
        <DialogPart title="Times">
          <TimesFields times={rules.times} onChange={(times) => change({ rules: { ...rules, times } })} />
        </DialogPart>
      </Form>
      <DialogPart title="Test a website">
        <TryField profileId={profile.id} rules={rules} services={web.services} />
      </DialogPart>
      <Stack gap="2" className="above-4">
        <Refusal error={save.error ?? remove.error} />
        <Row gap="2">
          <Button type="submit" form={form} loading={save.isPending}>
            Save
          </Button>
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            variant="text"
            icon={IconTrash}
            loading={remove.isPending}
            onClick={() => {
              const question = `Remove ${profile.name}? All refused names and questions are deleted. Devices keep their owner’s own rules.`;
              if (window.confirm(question)) remove.mutate(profile.id, { onSuccess: onClose });
            }}
          >
            Remove person
          </Button>
        </Row>
      </Stack>
    </ModalWindow>
  );
}
