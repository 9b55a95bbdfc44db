/** Parses a list of hosts or words: lower case, separated by spaces. */
const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));

/** URL shorteners, which hide the target of a link. */
export const SHORTENERS = list(`
bit.ly tinyurl.com t.ly is.gd v.gd ow.ly buff.ly cutt.ly rebrand.ly shorturl.at rb.gy tiny.cc bl.ink s.id t2m.io short.io lnk.to
linktr.ee qrco.de qr.io tr.im
shorte.st adf.ly ouo.io bc.vc urlz.fr urlr.me kutt.it u.to x.gd da.gd clck.ru goo.su vk.cc soo.gd t.co lnkd.in goo.gl wa.link
shrtco.de n9.cl acortar.link
encurtador.com.br kurzelinks.de kurzlink.de hyperurl.co surl.li surl.lu me2.kr han.gl bitly.com bitly.ws l.ead.me ln.run dub.sh
dub.co 1url.com cli.gs zpr.io
`);

/** Sites where anyone can publish a page under the service's domain, in addition to the private suffixes of the public suffix list. */
export const FREE_HOSTS = list(`
sites.google.com forms.gle docs.google.com weebly.com wixsite.com wix.com webflow.io square.site godaddysites.com jimdosite.com
jimdofree.com strikingly.com
mystrikingly.com yolasite.com wordpress.com blogspot.com tumblr.com glitch.me 000webhostapp.com infinityfreeapp.com ngrok.io
ngrok-free.app trycloudflare.com
duckdns.org no-ip.org ddns.net hopto.org sytes.net myftp.org serveo.net typeform.com jotform.com formstack.com carrd.co
notion.site framer.website
replit.app repl.co surge.sh my.canva.site canva.site page.link web.app firebaseapp.com pages.dev workers.dev r2.dev netlify.app
vercel.app github.io gitlab.io
herokuapp.com onrender.com azurewebsites.net cloudfront.net amplifyapp.com s3.amazonaws.com ipfs.io dweb.link telegra.ph
`);

/** Top-level domains with mostly disposable, abused names (first in the yearly lists of Spamhaus and Interisle). */
export const THROWAWAY_ENDINGS = list(`
top xyz icu cyou sbs cfd buzz rest click link live online site website space store shop club vip fun monster quest bond lat pw tk
ml ga cf gq ws cc su
win bid loan review date download racing stream trade party science work men mom beauty hair skin makeup autos boats homes yachts
info pro life world
today support help center services digital cloud host press uno zip mov best bar cam
`);

/** Services with a subdomain for each customer. A brand's name in such a subdomain belongs to the brand or its partner. */
export const TENANT_HOSTS = list(`
zendesk.com freshdesk.com atlassian.net slack.com okta.com oktapreview.com auth0.com sharepoint.com myshopify.com salesforce.com
force.com my.salesforce-sites.com
service-now.com workday.com myworkdayjobs.com myworkdaysite.com greenhouse.io lever.co teamtailor.com personio.de personio.com
recruitee.com statuspage.io
status.io uservoice.com helpscoutdocs.com intercom.help zoom.us webex.com qualtrics.com typeform.com surveymonkey.com hubspot.com
hs-sites.com mailchimp.com
list-manage.com campaign-archive.com sendgrid.net mktoweb.com marketo.com eloqua.com exacttarget.com sfmc-content.com
adobeaemcloud.com adobe.io akamaized.net
akamaihd.net akamai.net edgekey.net edgesuite.net fastly.net cloudfront.net azureedge.net azurefd.net amazonaws.com googleapis.com
cdn.com omtrdc.net demdex.net
2o7.net 122.2o7.net tt.omtrdc.net fandom.com wikia.com reddit.com wikipedia.org stackexchange.com uptodown.com softonic.com
en.softonic.com apkpure.com apkmirror.com
bandcamp.com substack.com medium.com tumblr.com wordpress.com blogspot.com livejournal.com deviantart.com aminoapps.com
`);

/** Extensions of files that a device runs or installs. */
export const PROGRAM_ENDINGS = list(
  'apk exe scr msi bat cmd com pif vbs vbe js jse wsf hta jar ps1 lnk iso img dmg pkg appx msix xapk mobileconfig reg cpl',
);

/** Country-code domains that are also ordinary words. A text with one is a link only with a scheme, `www`, a path or a hyphen. */
export const WORD_ENDINGS = list(
  'it is to me my so no at in be us am do as id la by an or se de es al ag ad ai pa pe na ne sh st mo ma mu sa tv va ve vi am',
);

/**
 * Words that imitators combine with a brand's name, in the eight languages. Addresses of honest sites rarely combine them with the name
 * of another organisation.
 */
export const BAIT_WORDS = list(`
secure security safe safety login logon signin signon sign log auth authenticate authentication authorize account accounts acct
verify verification verified validate
validation confirm confirmation update updates upgrade support service services help helpdesk helpcenter center centre desk
customer customers client clients care
billing bill bills invoice invoices pay payment payments payee refund refunds rebate claim claims cashback wallet card cards bank
banking online onlinebanking netbanking ebanking web mobile app apps
portal id ids user users member members access unlock unlocked locked lock restore recover recovery reset reactivate activate
activation suspended suspend limited restricted
alert alerts warning notice notification notify info information message messages mail email inbox track tracking tracker parcel
parcels package packages delivery deliver
deliveries redelivery redeliver shipping ship shipment order orders post postal customs duty fee fees reward rewards gift gifts
giftcard bonus promo promotion offer offers deal deals
prize prizes win winner winners free survey lottery raffle loyal loyalty club vip official real team corp inc group intl global eu
usa uk de fr es it pt nl pl at ch com net org www
cancel cancellation device devices new old app2 session sessions manage manager management review check tax toll fine fines job
jobs career careers hr cloud drive docs file files share shared
document documents sso webmail password passwd pin code codes otp tan 2fa mfa token tokens airdrop connect crypto staking exchange
trade trading invest investment support24 help24 live chat
addr address reschedule schedule appointment hold pending release renew renewal subscription premium plus pro max store shop
outlet sale sales market discount coupon voucher vouchers
technical tech fix repair virus scan cleaner antivirus protect protection shield guard now today urgent fast instant quick easy
one first my your the for to get go here direct
konto konten kunde kunden kundenservice kundenportal kundencenter sicher sicherheit sicherheits anmelden anmeldung bestatigen
bestaetigen bestatigung verifizierung verifizieren aktualisieren aktualisierung paket pakete sendung sendungen
zustellung lieferung versand zoll gebuhr gebuehr nachzahlung zahlung zahlungen rechnung rechnungen gutschein gutschrift gewinn
gewinnspiel erstattung ruckzahlung rueckzahlung storno stornieren sperre gesperrt freischalten entsperren karte karten hilfe treue
umfrage tan pushtan
cuenta cuentas cliente clientes seguridad seguro acceso acceder verificar verificacion confirmar actualizar actualizacion pago
pagos paquete paquetes envio envios entrega aduana aduanas tarifa multa multas reembolso devolucion premio premios regalo tarjeta
tarjetas soporte ayuda fiel cancelar bloqueo desbloquear sancion factura
compte comptes securite securise espace connexion verifier confirmer mise-a-jour paiement paiements colis suivi livraison
livraisons douane frais amende amendes remboursement cadeau gagnant carte cartes assistance aide annulation regul facture fidele
renouvellement
conto conti clienti sicurezza accesso accedi verifica conferma aggiorna aggiornamento pagamento pagamenti pacco pacchi spedizione
spedizioni consegna dogana multa rimborso rimborsi vincita carta carte assistenza blocca sblocca annulla bolletta fedele
conta contas seguranca acesso entrar validar valida atualizar atualizacao pagto pagamento encomenda encomendas rastreio rastrear
alfandega taxa taxas multa reembolso premio cartao suporte ajuda bloqueio desbloqueio fatura
rekening klant klanten veilig inloggen bevestigen verifieren verificatie bijwerken betaling betalen betaal pakket pakketje
bezorging levering douane boete boetes teruggave terugbetaling prijs winnaar pas betaalpas hulp annuleer toegang blokkeren factuur
trouw nabetaling toeslag
konta klient klienci bezpieczenstwo bezpieczny dostep zaloguj logowanie potwierdz potwierdzenie weryfikacja weryfikuj aktualizacja
platnosc platnosci oplata doplata doplac paczka paczki przesylka przesylki dostawa clo mandat mandaty zwrot nagroda bon karta
karty pomoc anuluj blokada odblokuj faktura lojalny
`);

/**
 * Bait words about accounts, money or deliveries. Combined with an ordinary word such as `apple`, only these indicate an
 * imitation.
 */
export const STRONG_BAIT = list(`
secure security login logon signin verify verification verified validate validation confirm confirmation authenticate account
accounts acct support helpdesk billing bill payee refund refunds rebate
wallet unlock unlocked locked suspended suspend restore recover recovery reset reactivate activate alert alerts parcel parcels
redelivery redeliver reward rewards giftcard prize
winner customs customer customers kunden kunde kundenservice kundenportal sicher sicherheit anmelden anmeldung verifizierung
verifizieren bestatigung bestaetigung aktualisierung paket sendung zustellung zoll
nachzahlung gebuhr gebuehr rechnung erstattung storno gesperrt freischalten entsperren pushtan tan gewinn cuenta clientes
seguridad verificar verificacion actualizar paquete aduana multa reembolso premio
compte securite securise verifier colis livraison douane amende remboursement cadeau clienti sicurezza accedi verifica pacco
spedizione dogana rimborso vincita conta seguranca encomenda alfandega
rekening veilig inloggen verificatie pakket douane boete teruggave konta bezpieczenstwo zaloguj logowanie weryfikacja doplata
oplata paczka przesylka clo zwrot nagroda cancel appeal password passcode
otp 2fa invoice payment payments pay claim fine toll tax mfa webmail pin update bank delivery track tracking fee
`);
