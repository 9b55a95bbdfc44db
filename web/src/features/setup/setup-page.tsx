import { TextInput } from '@mantine/core';
import { colorOf } from '@palisade/contract/accent';
import { isCallable, isMailable } from '@palisade/contract/contact';
import { formatNumber, plural } from '@palisade/contract/intl';
import { setupConfig } from '@palisade/contract/setup';
import { IconCheck, IconMailOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { type Config, refreshConfig, useConfig } from '#api/config.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { UNCONFIGURED_NAME } from '#api/support-contact.ts';
import { overviewQuery } from '#domain/overview/overview.ts';
import { Badge } from '#ui/badge.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { EmailField } from '#ui/email-field.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { KeptNote, useKeptForm } from '#ui/kept-form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Lead } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { DeskHours } from './desk-hours.tsx';
import { changedLook, LookFields, lookSchema } from './look-fields.tsx';
import { SetupSummary } from './setup-summary.tsx';
import './setup-page.css';

/** Features of every installation; they cannot be switched off. */
const FEATURES = [
  ['Antivirus', 'Every result says what was checked and what was found.'],
  ['Firewall', 'Rules that say who may reach a device.'],
  ['Remote access', 'A technician helps with a code that the person shares.'],
  ['Support chat', 'Customers write, get an automatic hint at once, and staff answer at the support desk.'],
  ['Anti-hacking monitor', 'Premium customers see what was tried against them.'],
  ['Subscriptions', 'Plans that you make, and assign to customers.'],
] as const;

export function SetupPage() {
  return (
    <Page title="Admin Setup" sentence="Only the company details are required. Each part below saves separately.">
      <SetupCards />
    </Page>
  );
}

function SetupCards() {
  const config = useConfig();
  // The notices above the cards load with the overview and would move the cards.
  const isOverviewRead = !useQuery(overviewQuery).isPending;
  if (!config || !isOverviewRead)
    return (
      <section className="card" aria-label="Admin Setup">
        <LoadingRows label="Loading what is set up" />
      </section>
    );
  return (
    <>
      <GivenUp />
      <Setup config={config} />
      <MailServer />
      {/* Rendered with the setup card, which is higher than its placeholder and would move the hours. */}
      <DeskHours>
        <Card title="Included in this installation" level="sunken">
          <FeatureList />
        </Card>
      </DeskHours>
    </>
  );
}

function Setup({ config }: { config: Config }) {
  const [saved, setSaved] = useState<Values>();
  const [isEditing, setIsEditing] = useState(true);
  const [before] = useState<Values>({
    accent: config.brand?.accent ?? '',
    logo: config.brand?.logo ?? null,
    company_name: config.provider_name === UNCONFIGURED_NAME ? '' : config.provider_name,
    support_phone: config.support.phone,
    support_email: config.support.email,
    support_promise: config.support.promise,
  });
  if (saved && !isEditing) return <SetupSummary info={saved} exposure={config.exposure} onEdit={() => setIsEditing(true)} />;
  return (
    <SetupForm
      config={config}
      initial={saved ?? before}
      onSaved={(values) => {
        setSaved(values);
        setIsEditing(false);
      }}
    />
  );
}

const GIVEN_UP_ONE =
  'The server tried it in the background until it had failed too often, and does not try again. The server’s log says which it was and why. After 30 days it is not shown here any more.';
const GIVEN_UP_SEVERAL =
  'The server tried each of them in the background until it had failed too often, and does not try again. The server’s log says which they were and why. After 30 days they are not shown here any more.';

/** A link to setting up a mail server, while none is connected. */
function MailServer() {
  const { data } = useQuery(overviewQuery);
  if (!data || data.is_mail_connected) return null;
  return (
    <Lead
      tone="attention"
      icon={IconMailOff}
      title="Email isn’t connected"
      sentence="No password codes, invitations, or alerts go out by email."
      action={
        <ScreenLink to="/admin/outbox" variant="quiet">
          Connect a mail server
        </ScreenLink>
      }
    />
  );
}

/** Background jobs that are no longer retried. No other screen shows them. */
function GivenUp() {
  const count = useQuery(overviewQuery).data?.waiting.jobs ?? 0;
  if (count === 0) return null;
  return (
    <Card title={plural(count, { one: 'A task was given up', other: `${formatNumber(count)} tasks were given up` })}>
      <p>{plural(count, { one: GIVEN_UP_ONE, other: GIVEN_UP_SEVERAL })}</p>
    </Card>
  );
}

function FeatureList() {
  return (
    <Grid as="ul" columns="2" phone="stack" gap="4">
      {FEATURES.map(([name, sentence]) => (
        <Grid as="li" columns="lead" gap="3" align="start" key={name}>
          <IconCheck className="accent" size={18} stroke={2} aria-hidden="true" />
          <div>
            <b className="base medium">{name}</b>
            <p className="sub">{sentence}</p>
          </div>
        </Grid>
      ))}
    </Grid>
  );
}

/** Storage key of unsent input. */
const PLACE = 'setup';
/** Accepts incomplete input; the server validates the sent values. */
const keptSchema = lookSchema.extend({
  company_name: z.string(),
  support_phone: z.string(),
  support_email: z.string(),
  support_promise: z.string(),
});

type Values = z.infer<typeof keptSchema>;

const hasOptions = ({ accent, logo, support_promise }: Values) => accent !== '' || logo !== null || support_promise !== '';

/** Says whether the form is saved. */
function SavedBadge({ values, saved }: { values: Values; saved: Values }) {
  if (saved.company_name === '') return <Badge tone="attention">Required</Badge>;
  return JSON.stringify(values) === JSON.stringify(saved) ? (
    <Badge tone="safe">Saved</Badge>
  ) : (
    <Badge tone="attention">Not saved yet</Badge>
  );
}

const COLOR_FORM = 'Enter a color as # and six digits, like #0b7a6b.';

/** The request for the entered values. The specification has no promise and no look, so an empty promise and an unchanged look are omitted. */
function bodyOf({ accent, logo, support_promise, ...info }: Values, saved: Values) {
  const brand = changedLook({ accent, logo }, saved);
  return {
    client_info: support_promise.trim() === '' ? info : { ...info, support_promise },
    ...(brand && { brand }),
    setup_type: 'basic_installation' as const,
    timestamp: new Date().toISOString(),
  };
}

interface SetupFormProps {
  config: Config;
  initial: Values;
  onSaved: (values: Values) => void;
}

function SetupForm({ config, initial, onSaved }: SetupFormProps) {
  const { form, isKept, forget } = useKeptForm(PLACE, keptSchema, initial);
  const phone = form.values.support_phone.trim();
  const email = form.values.support_email.trim();
  const save = useChange({
    of: setupConfig,
    mutationFn: (values: Values) => call(setupConfig, { body: bodyOf(values, initial) }),
    onSuccess: (_, values) => {
      forget();
      void refreshConfig();
      window.alert('Client setup completed successfully');
      onSaved(values);
    },
    onError: (error) => {
      console.error(error);
      const messages = Object.entries(fieldMessagesOf(error));
      form.setErrors(Object.fromEntries(messages.map(([field, text]) => [field.replace(/^(?:client_info|brand)\./u, ''), text])));
      window.alert('Error saving configuration. Please try again.');
    },
  });
  return (
    <Card title="Company details" action={<SavedBadge values={form.values} saved={initial} />}>
      {/* Phone and email are marked required but not validated, as specified: the browser must not block the form. */}
      <Form
        noValidate
        gap="4"
        error={save.error}
        busy={save.isPending}
        onSubmit={form.onSubmit((values) => {
          if (values.accent.trim() === '' || colorOf(values.accent) !== undefined) save.mutate(values);
          else form.setFieldError('accent', COLOR_FORM);
        })}
      >
        <Grid columns="3" tablet="stack" gap="4" align="end">
          <TextInput
            label="Company Name"
            name="company_name"
            autoComplete="organization"
            required
            withAsterisk={false}
            size="md"
            description="Shown with the product’s name, and in emails."
            {...form.getInputProps('company_name')}
          />
          <TextInput
            label="Support Phone"
            name="support_phone"
            type="tel"
            autoComplete="tel"
            required
            withAsterisk={false}
            size="md"
            description={
              phone === '' || isCallable(phone)
                ? 'Shown to everyone, and called from the user menu.'
                : 'People can’t call this number with a press. We’ll show it as you wrote it.'
            }
            {...form.getInputProps('support_phone')}
          />
          <EmailField
            label="Support Email"
            name="support_email"
            autoComplete="email"
            required
            description={
              email === '' || isMailable(email)
                ? 'Shown to everyone, and in the footer of emails.'
                : 'This isn’t an email address. We’ll show it as you wrote it, without a link.'
            }
            {...form.getInputProps('support_email')}
          />
        </Grid>
        <details open={hasOptions(form.values)}>
          <summary className="pointer base medium">Optional: support promise, logo, and color</summary>
          <Stack gap="4" className="above-3">
            <TextInput
              label="Support Promise"
              name="support_promise"
              size="md"
              placeholder="Answers within a day"
              description={
                config.exposure === 'local'
                  ? 'Your support promise, in your own words. If empty, “available 24/7” and “Response under 30 seconds” appear, marked “Example”.'
                  : 'Your support promise, in your own words. If empty, customers see no promise.'
              }
              {...form.getInputProps('support_promise')}
            />
            <LookFields
              look={form.values}
              name={form.values.company_name.trim() || UNCONFIGURED_NAME}
              errors={form.errors}
              onChange={(change) => form.setValues(change)}
            />
          </Stack>
        </details>
        {isKept && <KeptNote />}
        <Row phone="fill" gap="4" rowGap="2" justify="end" className="above-1">
          <p className="sub">
            {form.values.company_name.trim() === ''
              ? 'Enter the company name first.'
              : 'Saves these details for every screen and email.'}
          </p>
          <Submit size="l" disabled={form.values.company_name.trim() === ''}>
            Complete Setup
          </Submit>
        </Row>
      </Form>
    </Card>
  );
}
