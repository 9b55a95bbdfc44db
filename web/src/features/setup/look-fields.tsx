import { TextInput } from '@mantine/core';
import { accentTokens, colorOf, type Scheme, shadesOf } from '@palisade/contract/accent';
import { logoSizeSchema } from '@palisade/contract/brand';
import { describeBytes, formatNumber } from '@palisade/contract/intl';
import { checkLogo, LOGO_BYTES_MAXIMUM, LOGO_SIDE_MAXIMUM } from '@palisade/contract/setup';
import { useRef, useState } from 'react';
import { z } from 'zod';
import { sentenceOf, upload } from '#api/call.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { BrandLogo, ProductMark } from '#ui/brand.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';

/** The look in the form: the typed color, empty for the product’s; and the saved logo, or a newly checked one as a `data:` URL. */
export const lookSchema = z.object({
  accent: z.string(),
  logo: logoSizeSchema.extend({ path: z.string() }).nullable(),
});
export type Look = z.infer<typeof lookSchema>;

const DATA = 'data:image/png;base64,';
/** The accent in tokens.css for the light scheme. */
const PRODUCT_ACCENT = '#0b7a6b';

/** The fields of a look that differ from the saved one, in the format of the request; undefined if none do. */
export function changedLook(look: Look, saved: Look) {
  const accent = colorOf(look.accent) ?? null;
  const isAccentSaved = accent === (colorOf(saved.accent) ?? null);
  const isLogoSaved = look.logo?.path === saved.logo?.path;
  if (isAccentSaved && isLogoSaved) return undefined;
  return {
    ...(!isAccentSaved && { accent }),
    ...(!isLogoSaved && { logo: look.logo === null ? null : look.logo.path.slice(DATA.length) }),
  };
}

interface LookFieldsProps {
  look: Look;
  /** Refusals of the last attempt to save the look. */
  errors: Partial<Record<keyof Look, string>>;
  name: string;
  onChange: (change: Partial<Look>) => void;
}

/** The logo and the accent color, with a preview in both schemes. */
export function LookFields({ look, errors, name, onChange }: LookFieldsProps) {
  return (
    <Grid columns="2" phone="stack" gap="4">
      <Stack gap="4">
        <LogoField logo={look.logo} error={errors.logo} onChange={(logo) => onChange({ logo })} />
        <AccentField accent={look.accent} error={errors.accent} onChange={(accent) => onChange({ accent })} />
      </Stack>
      <Preview look={look} name={name} />
    </Grid>
  );
}

function LogoField(props: { logo: Look['logo']; error: string | undefined; onChange: (logo: Look['logo']) => void }) {
  const { logo, error, onChange } = props;
  const picker = useRef<HTMLInputElement>(null);
  const [isChecking, setIsChecking] = useState(false);
  const [refused, setRefused] = useState<string>();
  const message = refused ?? error;

  async function choose(file: File | undefined): Promise<void> {
    if (!file || isChecking) return;
    setIsChecking(true);
    setRefused(undefined);
    try {
      const { png, ...size } = await upload(checkLogo, file);
      onChange({ ...size, path: `${DATA}${png}` });
    } catch (thrown) {
      setRefused(fieldMessagesOf(thrown)['file'] ?? sentenceOf(thrown));
    } finally {
      setIsChecking(false);
    }
  }

  return (
    <Stack as="fieldset" gap="2" aria-describedby="logo-note">
      <legend className="base medium">Logo</legend>
      <p className="sub" id="logo-note">
        {`A PNG, at most ${describeBytes(LOGO_BYTES_MAXIMUM)} and ${formatNumber(LOGO_SIDE_MAXIMUM)} pixels a side. Shown at sign-in, on every page, and in emails.`}
      </p>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label="Choose a logo"
        accept="image/png,.png"
        onChange={(event) => {
          void choose(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <Row gap="2">
        <Button variant="quiet" loading={isChecking} onClick={() => picker.current?.click()}>
          {logo ? 'Choose another logo' : 'Choose a logo'}
        </Button>
        {logo && (
          <Button variant="text" onClick={() => onChange(null)}>
            Remove logo
          </Button>
        )}
      </Row>
      {message && (
        <p role="alert" className="small red">
          {message}
        </p>
      )}
    </Stack>
  );
}

function AccentField(props: { accent: string; error: string | undefined; onChange: (accent: string) => void }) {
  const { accent, error, onChange } = props;
  const color = colorOf(accent);
  return (
    <Stack gap="2" align="start">
      <TextInput
        className="full"
        label="Accent color"
        name="accent"
        size="md"
        placeholder={PRODUCT_ACCENT}
        maxLength={20}
        spellCheck={false}
        autoComplete="off"
        description="For buttons and links. Where it’s hard to read, we use a lighter or darker shade of it."
        error={error}
        value={accent}
        onChange={(event) => onChange(event.currentTarget.value)}
        onBlur={() => color !== undefined && onChange(color)}
        rightSectionWidth={56}
        rightSection={
          <input
            type="color"
            className="look-field__swatch pointer"
            aria-label="Pick the accent color"
            value={color ?? PRODUCT_ACCENT}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      />
      {accent !== '' && (
        <Button variant="text" size="s" onClick={() => onChange('')}>
          Use the product’s color
        </Button>
      )}
    </Stack>
  );
}

const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const satisfies readonly (readonly [Scheme, string])[];

/** A sentence about the shade of a color in one scheme. */
function shadeSentence(color: string, scheme: Scheme): string {
  const { accent } = shadesOf(color, scheme);
  if (accent === color) return `${color}, as it is.`;
  return `${accent}, ${scheme === 'dark' ? 'lighter' : 'darker'} so that it can be read.`;
}

function Preview({ look, name }: { look: Look; name: string }) {
  const color = colorOf(look.accent);
  return (
    <Stack as="section" gap="2" aria-label="Preview">
      <span className="base medium">Preview</span>
      {SCHEMES.map(([scheme, label]) => (
        <Stack
          key={scheme}
          gap="3"
          className="look-preview pad-m rounded ink"
          data-mantine-color-scheme={scheme}
          style={color === undefined ? undefined : accentTokens(color, scheme)}
        >
          <Row gap="3" justify="between">
            {look.logo ? <BrandLogo logo={look.logo} name={name} /> : <ProductMark />}
            <span className="button" data-variant="primary">
              Button
            </span>
          </Row>
          <p className="small accent medium">{`${label} pages`}</p>
          <p className="small">{color === undefined ? 'The product’s own color.' : shadeSentence(color, scheme)}</p>
        </Stack>
      ))}
    </Stack>
  );
}
