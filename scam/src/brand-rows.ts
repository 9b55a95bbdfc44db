/** Kinds of organisation; messages of a kind ask for what that kind can ask for. */
export type BrandKind =
  | 'bank'
  | 'payment'
  | 'parcel'
  | 'shop'
  | 'technology'
  | 'social'
  | 'telecom'
  | 'energy'
  | 'state'
  | 'travel'
  | 'streaming'
  | 'game'
  | 'crypto'
  | 'security'
  | 'insurance'
  | 'provider';

/**
 * Name; kind; languages of its customers (`*`: all); its own registrable domains, the main one first; further words by which
 * addresses name it. A word that ends in `!` is
 * an ordinary word or a common name too (`apple!`): alone it names no brand.
 */
export type BrandRow = readonly [name: string, kind: BrandKind, languages: string, domains: string, words?: string];

// The comment of a row names the address of the organisation itself, where its domains can be looked up again.
// biome-ignore format: one row a line
export const MONEY_AND_PARCEL_ROWS: readonly BrandRow[] = [
  // Payment
  ['PayPal', 'payment', '*',
    'paypal.com paypal.me paypalobjects.com paypal-community.com paypal-marketing.com paypal-knowledge.com'], // www.paypal.com
  ['Visa', 'payment', '*', 'visa.com visa.de visa.co.uk visaeurope.com', 'visa!'], // www.visa.com
  ['Mastercard', 'payment', '*',
    'mastercard.com mastercard.us mastercard.de mastercardservices.com mastercard-a.akamaihd.net'], // www.mastercard.com
  ['American Express', 'payment', '*', 'americanexpress.com aexp.com amex.com', 'americanexpress amex'], // www.americanexpress.com
  ['Klarna', 'payment', '*', 'klarna.com klarnaservices.com'], // www.klarna.com
  ['Stripe', 'payment', '*', 'stripe.com', 'stripe!'], // stripe.com
  ['Wise', 'payment', '*', 'wise.com transferwise.com', 'wise! transferwise'], // wise.com
  ['Revolut', 'payment', '*', 'revolut.com revolut.me'], // www.revolut.com
  ['Western Union', 'payment', '*', 'westernunion.com', 'westernunion'], // www.westernunion.com
  ['MoneyGram', 'payment', '*', 'moneygram.com'], // www.moneygram.com
  ['Venmo', 'payment', 'en', 'venmo.com'], // venmo.com
  ['Zelle', 'payment', 'en', 'zellepay.com zelle.com', 'zelle! zellepay'], // www.zellepay.com
  ['Cash App', 'payment', 'en', 'cash.app', 'cashapp!'], // cash.app
  ['Skrill', 'payment', '*', 'skrill.com'], // www.skrill.com
  ['Payoneer', 'payment', '*', 'payoneer.com'], // www.payoneer.com
  ['Paysafecard', 'payment', '*', 'paysafecard.com paysafe.com', 'paysafecard paysafe'], // www.paysafecard.com
  ['giropay', 'payment', 'de', 'giropay.de'], // www.giropay.de
  ['paydirekt', 'payment', 'de', 'paydirekt.de'], // www.paydirekt.de
  ['Bizum', 'payment', 'es', 'bizum.es'], // bizum.es
  ['Satispay', 'payment', 'it', 'satispay.com'], // www.satispay.com
  ['Nexi', 'payment', 'it', 'nexi.it nexigroup.com', 'nexi! nexipay'], // www.nexi.it
  ['MB WAY', 'payment', 'pt', 'mbway.pt sibs.com', 'mbway'], // www.mbway.pt
  ['Tikkie', 'payment', 'nl', 'tikkie.me'], // www.tikkie.me
  ['iDEAL', 'payment', 'nl', 'ideal.nl', 'ideal!'], // www.ideal.nl
  ['Przelewy24', 'payment', 'pl', 'przelewy24.pl'], // www.przelewy24.pl
  ['BLIK', 'payment', 'pl', 'blik.com', 'blik!'], // blik.com
  ['PayU', 'payment', 'pl', 'payu.com payu.pl', 'payu!'], // poland.payu.com
  ['Mercado Pago', 'payment', 'es pt', 'mercadopago.com mercadopago.com.br mercadopago.com.ar', 'mercadopago'], // www.mercadopago.com
  ['PicPay', 'payment', 'pt', 'picpay.com'], // picpay.com
  // Banks of the United Kingdom, Ireland, the United States, Canada, Australia
  ['Barclays', 'bank', 'en', 'barclays.co.uk barclays.com barclaycard.co.uk', 'barclays barclaycard'], // www.barclays.co.uk
  ['HSBC', 'bank', '*', 'hsbc.co.uk hsbc.com hsbc.fr hsbc.com.hk', 'hsbc'], // www.hsbc.co.uk
  ['Lloyds Bank', 'bank', 'en', 'lloydsbank.com lloydsbank.co.uk lloydsbankinggroup.com', 'lloydsbank lloyds'], // www.lloydsbank.com
  ['NatWest', 'bank', 'en', 'natwest.com natwestgroup.com', 'natwest'], // www.natwest.com
  ['Halifax', 'bank', 'en', 'halifax.co.uk halifax-online.co.uk', 'halifax!'], // www.halifax.co.uk
  ['Santander', 'bank', '*', 'santander.com santander.co.uk santander.es bancosantander.es santander.pt santander.pl ' +
    'santander.de santander.com.br santanderbank.com'], // www.santander.com
  ['Nationwide', 'bank', 'en', 'nationwide.co.uk nationwide.com', 'nationwide!'], // www.nationwide.co.uk
  ['TSB', 'bank', 'en', 'tsb.co.uk', 'tsb'], // www.tsb.co.uk
  ['Royal Bank of Scotland', 'bank', 'en', 'rbs.co.uk rbs.com', 'rbs royalbankofscotland'], // www.rbs.co.uk
  ['Monzo', 'bank', 'en', 'monzo.com'], // monzo.com
  ['Starling Bank', 'bank', 'en', 'starlingbank.com', 'starlingbank'], // www.starlingbank.com
  ['Metro Bank', 'bank', 'en', 'metrobankonline.co.uk', 'metrobank'], // www.metrobankonline.co.uk
  ['Bank of Ireland', 'bank', 'en', 'bankofireland.com 365online.com boi.com', 'bankofireland'], // www.bankofireland.com
  ['AIB', 'bank', 'en', 'aib.ie', 'aib'], // aib.ie
  ['Chase', 'bank', 'en', 'chase.com jpmorganchase.com jpmorgan.com chase.co.uk', 'chase! jpmorgan'], // www.chase.com
  ['Bank of America', 'bank', 'en', 'bankofamerica.com bofa.com', 'bankofamerica bofa'], // www.bankofamerica.com
  ['Wells Fargo', 'bank', 'en', 'wellsfargo.com wf.com', 'wellsfargo'], // www.wellsfargo.com
  ['Citibank', 'bank', 'en', 'citi.com citibank.com citibankonline.com citigroup.com', 'citibank citi!'], // www.citi.com
  ['Capital One', 'bank', 'en', 'capitalone.com capitalone.co.uk', 'capitalone'], // www.capitalone.com
  ['US Bank', 'bank', 'en', 'usbank.com', 'usbank!'], // www.usbank.com
  ['PNC Bank', 'bank', 'en', 'pnc.com', 'pnc!'], // www.pnc.com
  ['TD Bank', 'bank', 'en', 'td.com tdbank.com', 'tdbank!'], // www.td.com
  ['Royal Bank of Canada', 'bank', 'en', 'rbcroyalbank.com rbc.com', 'rbc! rbcroyalbank'], // www.rbcroyalbank.com
  ['Scotiabank', 'bank', 'en', 'scotiabank.com'], // www.scotiabank.com
  ['Interac', 'payment', 'en', 'interac.ca', 'interac!'], // www.interac.ca
  ['Commonwealth Bank', 'bank', 'en', 'commbank.com.au', 'commbank'], // www.commbank.com.au
  ['Westpac', 'bank', 'en', 'westpac.com.au westpac.co.nz'], // www.westpac.com.au
  ['ANZ', 'bank', 'en', 'anz.com anz.com.au anz.co.nz', 'anz!'], // www.anz.com.au
  ['NAB', 'bank', 'en', 'nab.com.au', 'nab!'], // www.nab.com.au
  ['Navy Federal', 'bank', 'en', 'navyfederal.org', 'navyfederal'], // www.navyfederal.org
  ['Discover', 'bank', 'en', 'discover.com discovercard.com', 'discover! discovercard'], // www.discover.com
  // Banks of Germany, Austria, Switzerland
  ['Sparkasse', 'bank', 'de', 'sparkasse.de sparkasse.at s-pushtan.de', 'sparkasse'], // www.sparkasse.de
  ['Volksbank', 'bank', 'de', 'vr.de volksbank.de bvr.de volksbank.at', 'volksbank raiffeisenbank volksbanken'], // www.vr.de
  ['Deutsche Bank', 'bank', 'de', 'deutsche-bank.de db.com deutschebank.be', 'deutschebank'], // www.deutsche-bank.de
  ['Commerzbank', 'bank', 'de', 'commerzbank.de commerzbank.com'], // www.commerzbank.de
  ['Postbank', 'bank', 'de', 'postbank.de'], // www.postbank.de
  ['Comdirect', 'bank', 'de', 'comdirect.de'], // www.comdirect.de
  ['DKB', 'bank', 'de', 'dkb.de', 'dkb'], // www.dkb.de
  ['ING', 'bank', 'de nl it es pl', 'ing.com ing.de ing.nl ing.pl ing.be ing.es ing.it ing.com.au ingbank.pl',
    'ing! ingbank! ingdiba'], // www.ing.com
  ['N26', 'bank', '*', 'n26.com', 'n26'], // n26.com
  ['Targobank', 'bank', 'de', 'targobank.de'], // www.targobank.de
  ['HypoVereinsbank', 'bank', 'de', 'hypovereinsbank.de hvb.de', 'hypovereinsbank'], // www.hypovereinsbank.de
  ['Consorsbank', 'bank', 'de', 'consorsbank.de'], // www.consorsbank.de
  ['Norisbank', 'bank', 'de', 'norisbank.de'], // www.norisbank.de
  ['Raiffeisen', 'bank', 'de', 'raiffeisen.at raiffeisen.ch rbinternational.com raiffeisen.com', 'raiffeisen'], // www.raiffeisen.at
  ['Erste Bank', 'bank', 'de', 'erstebank.at sparkasse.at erstegroup.com', 'erstebank'], // www.erstebank.at
  ['BAWAG', 'bank', 'de', 'bawag.at bawaggroup.com', 'bawag'], // www.bawag.at
  ['Bank Austria', 'bank', 'de', 'bankaustria.at', 'bankaustria'], // www.bankaustria.at
  ['easybank', 'bank', 'de', 'easybank.at easybank.de'], // www.easybank.at
  ['UBS', 'bank', 'de fr it', 'ubs.com', 'ubs!'], // www.ubs.com
  ['PostFinance', 'bank', 'de fr it', 'postfinance.ch', 'postfinance'], // www.postfinance.ch
  ['Trade Republic', 'bank', '*', 'traderepublic.com', 'traderepublic'], // traderepublic.com
  // Banks of Spain and Latin America
  ['BBVA', 'bank', 'es', 'bbva.es bbva.com bbva.mx', 'bbva'], // www.bbva.es
  ['CaixaBank', 'bank', 'es', 'caixabank.es caixabank.com', 'caixabank lacaixa'], // www.caixabank.es
  ['Banco Sabadell', 'bank', 'es', 'bancsabadell.com bancosabadell.com', 'sabadell bancsabadell bancosabadell'], // www.bancsabadell.com
  ['Bankinter', 'bank', 'es', 'bankinter.com bankinter.es'], // www.bankinter.com
  ['Kutxabank', 'bank', 'es', 'kutxabank.es'], // www.kutxabank.es
  ['Unicaja', 'bank', 'es', 'unicajabanco.es unicaja.es', 'unicaja unicajabanco'], // www.unicajabanco.es
  ['Ibercaja', 'bank', 'es', 'ibercaja.es'], // www.ibercaja.es
  ['Abanca', 'bank', 'es', 'abanca.com'], // www.abanca.com
  ['Bancolombia', 'bank', 'es', 'bancolombia.com'], // www.bancolombia.com
  ['Banorte', 'bank', 'es', 'banorte.com'], // www.banorte.com
  // Banks of France and Belgium
  ['Crédit Agricole', 'bank', 'fr', 'credit-agricole.fr credit-agricole.com', 'creditagricole'], // www.credit-agricole.fr
  ['BNP Paribas', 'bank', 'fr it', 'bnpparibas.com bnpparibas.fr bnpparibas mabanque.bnpparibas bnpparibasfortis.be',
    'bnpparibas bnp'], // mabanque.bnpparibas
  ['Société Générale', 'bank', 'fr', 'societegenerale.fr societegenerale.com sg.fr', 'societegenerale'], // particuliers.sg.fr
  ['La Banque Postale', 'bank', 'fr', 'labanquepostale.fr', 'labanquepostale banquepostale'], // www.labanquepostale.fr
  ["Caisse d'Épargne", 'bank', 'fr', 'caisse-epargne.fr', 'caissedepargne caisseepargne'], // www.caisse-epargne.fr
  ['Banque Populaire', 'bank', 'fr', 'banquepopulaire.fr', 'banquepopulaire'], // www.banquepopulaire.fr
  ['Crédit Mutuel', 'bank', 'fr', 'creditmutuel.fr creditmutuel.com', 'creditmutuel'], // www.creditmutuel.fr
  ['LCL', 'bank', 'fr', 'lcl.fr', 'lcl'], // www.lcl.fr
  ['Boursorama', 'bank', 'fr', 'boursorama.com boursobank.com', 'boursorama boursobank'], // www.boursobank.com
  ['Fortuneo', 'bank', 'fr', 'fortuneo.fr'], // www.fortuneo.fr
  ['Belfius', 'bank', 'fr nl', 'belfius.be'], // www.belfius.be
  ['KBC', 'bank', 'nl fr', 'kbc.be kbc.com', 'kbc'], // www.kbc.be
  // Banks of Italy
  ['Intesa Sanpaolo', 'bank', 'it', 'intesasanpaolo.com', 'intesasanpaolo'], // www.intesasanpaolo.com
  ['UniCredit', 'bank', 'it de', 'unicredit.it unicreditgroup.eu unicredit.eu', 'unicredit'], // www.unicredit.it
  ['Banco BPM', 'bank', 'it', 'bancobpm.it', 'bancobpm'], // www.bancobpm.it
  ['BPER', 'bank', 'it', 'bper.it', 'bper'], // www.bper.it
  ['FinecoBank', 'bank', 'it', 'finecobank.com fineco.it', 'fineco finecobank'], // www.finecobank.com
  ['Monte dei Paschi', 'bank', 'it', 'mps.it gruppomps.it', 'montedeipaschi'], // www.mps.it
  ['Mediolanum', 'bank', 'it es', 'bancamediolanum.it mediolanum.it', 'mediolanum bancamediolanum'], // www.bancamediolanum.it
  ['Postepay', 'payment', 'it', 'postepay.it poste.it', 'postepay'], // postepay.poste.it
  ['BancoPosta', 'bank', 'it', 'bancoposta.it poste.it', 'bancoposta bancopostaonline'], // bancoposta.poste.it
  ['Hype', 'bank', 'it', 'hype.it', 'hype!'], // www.hype.it
  // Banks of Portugal and Brazil
  ['Caixa Geral de Depósitos', 'bank', 'pt', 'cgd.pt caixadirecta.pt', 'caixageral caixadirecta cgd'], // www.cgd.pt
  ['Millennium bcp', 'bank', 'pt', 'millenniumbcp.pt', 'millenniumbcp'], // ind.millenniumbcp.pt
  ['Novo Banco', 'bank', 'pt', 'novobanco.pt', 'novobanco'], // www.novobanco.pt
  ['BPI', 'bank', 'pt', 'bancobpi.pt', 'bancobpi bpinet'], // www.bancobpi.pt
  ['Montepio', 'bank', 'pt', 'bancomontepio.pt montepio.org', 'montepio bancomontepio'], // www.bancomontepio.pt
  ['Nubank', 'bank', 'pt es', 'nubank.com.br nu.com.mx', 'nubank'], // nubank.com.br
  ['Itaú', 'bank', 'pt', 'itau.com.br', 'itau'], // www.itau.com.br
  ['Bradesco', 'bank', 'pt', 'bradesco.com.br banco.bradesco', 'bradesco'], // banco.bradesco
  ['Banco do Brasil', 'bank', 'pt', 'bb.com.br', 'bancodobrasil bancobrasil'], // www.bb.com.br
  ['Caixa Econômica', 'bank', 'pt', 'caixa.gov.br', 'caixaeconomica'], // www.caixa.gov.br
  ['Banco Inter', 'bank', 'pt', 'inter.co bancointer.com.br', 'bancointer'], // inter.co
  // Banks of the Netherlands
  ['Rabobank', 'bank', 'nl', 'rabobank.nl rabobank.com', 'rabobank'], // www.rabobank.nl
  ['ABN AMRO', 'bank', 'nl', 'abnamro.nl abnamro.com', 'abnamro'], // www.abnamro.nl
  ['SNS Bank', 'bank', 'nl', 'snsbank.nl', 'snsbank'], // www.snsbank.nl
  ['ASN Bank', 'bank', 'nl', 'asnbank.nl', 'asnbank'], // www.asnbank.nl
  ['bunq', 'bank', 'nl', 'bunq.com', 'bunq'], // www.bunq.com
  ['Knab', 'bank', 'nl', 'knab.nl', 'knab'], // www.knab.nl
  // Banks of Poland
  ['PKO Bank Polski', 'bank', 'pl', 'pkobp.pl ipko.pl inteligo.pl', 'pkobp ipko pkobank'], // www.pkobp.pl
  ['mBank', 'bank', 'pl', 'mbank.pl mbank.com.pl', 'mbank'], // www.mbank.pl
  ['Bank Pekao', 'bank', 'pl', 'pekao.com.pl pekao24.pl', 'pekao pekao24 bankpekao'], // www.pekao.com.pl
  ['Alior Bank', 'bank', 'pl', 'aliorbank.pl', 'aliorbank alior'], // www.aliorbank.pl
  ['Bank Millennium', 'bank', 'pl', 'bankmillennium.pl', 'bankmillennium'], // www.bankmillennium.pl
  ['Credit Agricole Polska', 'bank', 'pl', 'credit-agricole.pl'], // www.credit-agricole.pl
  // Parcels and post
  ['DHL', 'parcel', '*',
    'dhl.com dhl.de dhl.co.uk dhl.fr dhl.it dhl.es dhl.pl dhl.nl dhlparcel.nl dhlparcel.co.uk deutschepost.de dhlecommerce.nl',
    'dhl dhlparcel dhlexpress'], // www.dhl.com
  ['Deutsche Post', 'parcel', 'de', 'deutschepost.de deutschepost.com dpdhl.com', 'deutschepost'], // www.deutschepost.de
  ['UPS', 'parcel', '*', 'ups.com', 'ups!'], // www.ups.com
  ['FedEx', 'parcel', '*', 'fedex.com tnt.com', 'fedex'], // www.fedex.com
  ['DPD', 'parcel', '*', 'dpd.com dpd.co.uk dpd.de dpd.fr dpd.nl dpdgroup.com dpd.com.pl dpd.pt dpd.es dpd.at dpd.ie',
    'dpd dpdgroup'], // www.dpd.com
  ['GLS', 'parcel', '*', 'gls-group.com gls-group.eu gls-pakete.de gls-italy.com gls-spain.es gls-netherlands.com gls-poland.com',
    'gls!'], // gls-group.com
  ['Hermes', 'parcel', 'de', 'myhermes.de hermesworld.com myhermes.co.uk', 'hermes! myhermes'], // www.myhermes.de
  ['Evri', 'parcel', 'en', 'evri.com', 'evri'], // www.evri.com
  ['Royal Mail', 'parcel', 'en', 'royalmail.com parcelforce.com', 'royalmail parcelforce'], // www.royalmail.com
  ['Post Office', 'parcel', 'en', 'postoffice.co.uk', 'postoffice'], // www.postoffice.co.uk
  ['USPS', 'parcel', 'en', 'usps.com usps.gov', 'usps'], // www.usps.com
  ['Canada Post', 'parcel', 'en fr', 'canadapost.ca canadapost-postescanada.ca',
    'canadapost postescanada'], // www.canadapost-postescanada.ca
  ['Australia Post', 'parcel', 'en', 'auspost.com.au', 'auspost australiapost'], // auspost.com.au
  ['An Post', 'parcel', 'en', 'anpost.com anpost.ie', 'anpost'], // www.anpost.com
  ['Correos', 'parcel', 'es', 'correos.es correos.com correosexpress.com', 'correos correosexpress'], // www.correos.es
  ['SEUR', 'parcel', 'es', 'seur.com', 'seur'], // www.seur.com
  ['MRW', 'parcel', 'es', 'mrw.es', 'mrw'], // www.mrw.es
  ['La Poste', 'parcel', 'fr', 'laposte.fr laposte.net laposte.com colissimo.fr', 'laposte colissimo'], // www.laposte.fr
  ['Chronopost', 'parcel', 'fr', 'chronopost.fr'], // www.chronopost.fr
  ['Mondial Relay', 'parcel', 'fr', 'mondialrelay.fr mondialrelay.com', 'mondialrelay'], // www.mondialrelay.fr
  ['Colis Privé', 'parcel', 'fr', 'colisprive.com colisprive.fr', 'colisprive'], // www.colisprive.fr
  ['Poste Italiane', 'parcel', 'it', 'poste.it posteitaliane.it', 'posteitaliane'], // www.poste.it
  ['BRT', 'parcel', 'it', 'brt.it bartolini.it', 'brt bartolini'], // www.brt.it
  ['SDA', 'parcel', 'it', 'sda.it', 'sda!'], // www.sda.it
  ['CTT', 'parcel', 'pt', 'ctt.pt cttexpress.com', 'ctt cttexpress'], // www.ctt.pt
  ['Correios', 'parcel', 'pt', 'correios.com.br', 'correios'], // www.correios.com.br
  ['PostNL', 'parcel', 'nl', 'postnl.nl postnl.be postnl.com', 'postnl'], // www.postnl.nl
  ['bpost', 'parcel', 'nl fr', 'bpost.be', 'bpost!'], // www.bpost.be
  ['InPost', 'parcel', 'pl', 'inpost.pl inpost.co.uk inpost.it inpost.eu', 'inpost paczkomat'], // inpost.pl
  ['Poczta Polska', 'parcel', 'pl', 'poczta-polska.pl pocztex.pl', 'pocztapolska pocztex'], // www.poczta-polska.pl
  ['Österreichische Post', 'parcel', 'de', 'post.at', 'postat!'], // www.post.at
  ['Swiss Post', 'parcel', 'de fr it', 'post.ch', 'swisspost diepost'], // www.post.ch
];
