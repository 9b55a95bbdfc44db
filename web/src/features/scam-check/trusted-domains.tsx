import { TextInput } from '@mantine/core';
import type { ProviderDomain } from '@palisade/contract/scam-check';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Address } from '#ui/address.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import {
  providerDomainsQuery,
  trustedQuery,
  useAddProviderDomain,
  useDistrust,
  useRemoveProviderDomain,
  useTrust,
} from './scam-check.queries.ts';

export function DomainList() {
  const { data, error, refetch } = useQuery(trustedQuery);
  return (
    <details className="card" open={error !== null || undefined}>
      <summary>Settings: domains you trust</summary>
      <p className="sub pad-line">We won’t flag links to these domains. Add only domains that you know well.</p>
      {error && (
        <ErrorNotice title="We couldn’t load the domains you trust" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      <Domains domains={data ?? []} label="Domain to trust" action="Trust it" add={useTrust()} remove={useDistrust()} />
    </details>
  );
}

/** The provider’s lists of domains for all customers. */
export function ProviderLists() {
  const { data = [], error, refetch } = useQuery(providerDomainsQuery);
  const of = (list: ProviderDomain['list']) => data.filter((domain) => domain.list === list);
  const remove = useRemoveProviderDomain();
  return (
    <Card title="Lists for all customers">
      {error && <ErrorNotice title="We couldn’t load the lists" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      <Grid columns="2" gap="5" phone="stack">
        <section aria-labelledby="scam-dangerous">
          <h3 id="scam-dangerous" className="base">
            Dangerous
          </h3>
          <Domains
            domains={of('dangerous')}
            label="Dangerous domain"
            action="Add it"
            add={useAddProviderDomain('dangerous')}
            remove={remove}
          />
        </section>
        <section aria-labelledby="scam-trusted">
          <h3 id="scam-trusted" className="base">
            Trusted
          </h3>
          <Domains
            domains={of('trusted')}
            label="Trusted domain"
            action="Add it"
            add={useAddProviderDomain('trusted')}
            remove={remove}
          />
        </section>
      </Grid>
    </Card>
  );
}

interface DomainsProps {
  domains: readonly { id: string; domain: string }[];
  label: string;
  action: string;
  add: ReturnType<typeof useTrust> | ReturnType<typeof useAddProviderDomain>;
  remove: ReturnType<typeof useDistrust> | ReturnType<typeof useRemoveProviderDomain>;
}

function Domains({ domains, label, action, add, remove }: DomainsProps) {
  const [typed, setTyped] = useState('');
  return (
    <Stack gap="2" className="pad-line">
      {domains.length > 0 && (
        <Stack as="ul" gap="2">
          {domains.map(({ id, domain }) => (
            <Row as="li" wrap={false} gap="3" justify="between" key={id}>
              <Address text={domain} />
              <Button
                variant="text"
                size="s"
                disabled={remove.isPending}
                aria-label={`Remove ${domain}`}
                onClick={() => remove.mutate(id)}
              >
                Remove
              </Button>
            </Row>
          ))}
        </Stack>
      )}
      <Form
        gap="2"
        className="scam-domains__form"
        error={add.error}
        busy={add.isPending}
        onEdit={add.reset}
        onSubmit={() => add.mutate(typed, { onSuccess: () => setTyped('') })}
      >
        <TextInput
          size="md"
          aria-label={label}
          placeholder="example.com"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          required
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Submit variant="quiet">{action}</Submit>
      </Form>
      <Refusal error={add.error ?? remove.error} />
    </Stack>
  );
}
