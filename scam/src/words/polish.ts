import type { WordList } from './concepts.ts';

export const POLISH: WordList = {
  click: `kliknij; kliknac; przez link; pod linkiem; w link; anuluj tutaj; tutaj:; wejdz na; odwiedz; pod adresem; ponizszy link;
    zaloguj; przejdz; link ponizej; linku; przejdz do; klikajac`,
  call: `zadzwon; prosze dzwonic; prosze zadzwonic; skontaktuj sie; infolinia; pod numer; kontakt telefoniczny; zadzwonic;
    oddzwon; dzwon; porozmawiaj; konsultantem; dzwoniac; infolinii; telefonicznie; zadzwon pod`,
  reply: `napisz; odpisz; prosze o kontakt; skontaktuj sie; odezwij sie; wyslij wiadomosc; daj znac; odpowiedz; dodaj mnie; pisz;
    zainteresowan*; wyslij sms; kontakt z; porozmawiaj z; napisz do; wyslij whatsapp; skontaktuj`,
  pay: `zaplac; zaplacic; oplac; oplacic; doplac; doplata; ureguluj; uregulowac; nieoplacon*; niezaplacon*; brakuje;
    zaplac tylko; platnosc; wplacic; prosze placic; oplata; oplate; przelej; brak wplaty; zaleglosc; naleznosc; dokonaj; uisc;
    zalegl*; niedoplat*; wplata; wplac`,
  transfer: `przelew; przelej; przelac; wyslij pieniadze; wyslij przez; zrobisz _ przelew; wykonac platnosc; nowego dostawcy;
    blik; blikiem; przelewem; wplac; przeslij pieniadze; wyslac pieniadze; przelewu; wykonac przelew`,
  gift_card: `karty/kart/karte podarunkowe/podarunkowych/podarunkowa/podarunkowej;
    karty/kart steam/google/apple/amazon/przedplacone; kartami przedplaconymi; google play; kartach google; bony podarunkowe;
    paysafecard; karty przedplacone; doladowan*; kody podarunkowe; bon* podarunkow*`,
  card_codes: `zdjecia kodow; zdrap; zdrapac; przeslac _ kodow; przeslij kody; zdjecie kodu; przeslij mailem; wyslij kody;
    zdjecia kodow; kody i; przeslij _ kody; wyslij _ kody; zdjec kodow`,
  crypto: `bitcoin*; btc; usdt; krypto*; kryptowalut*; ethereum; portfel`,
  money_service: `western union; moneygram; ria; paysafecard`,
  cash_pickup: `po gotowke; odbierze pieniadze; odbierze gotowke; przyjedzie po; gotowke;
    kolega/kurier/znajomy/policjant przyjedzie/odbierze; gotowka; kosztownosci; bizuterie`,
  secret_data: `haslo; pin; dane karty; numer karty; dane logowania; numer konta; dane osobowe; cvv; kod sms; podaj dane;
    id oraz haslo; pesel; karte; potwierdz karte; dane; danych; kod blik; dane do; loginu; danych karty; numer dowodu`,
  confirm: `potwierdz; potwierdzic; zweryfikuj; zweryfikowac; zaktualizuj; aktualizuj; odblokuj; reaktywuj; podaj; wpisz;
    uzupelnij; anuluj; tozsamosc; zaloguj sie; wypelnij; podac; weryfikacj*; potwierdzenie; odnow; aktywuj; popraw; uaktualnij;
    autoryz*; wybierz; nowy termin; odnow; przedluz; uniknac; by uniknac; zloz wniosek; zablokuj tutaj; zablokuj`,
  chat_app: `whatsapp; whatsappie; telegram; telegramie; signal; messenger; viber; wechat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; zdalny dostep; zdalnego dostepu; zdalny pulpit; supremo;
    udostepnij ekran; quick support`,
  tell_number: `podac numer; podaj numer; id oraz; podyktowac; podac id; prosze podac; numer naszemu; podyktuj; kod dostepu`,
  lend: `pozyczysz; pozycz; pozyczyc; potrzebuje pieniedzy; potrzebuje _ euro/zl/zlotych; potrzebuje kasy; zrobisz _ przelew;
    pomozesz mi; za mnie; z platnoscia; zaplacisz; nie moge wejsc do banku; kod blik; zaplacic za; przelejesz; dasz rade;
    podeslesz; blika; oddam jutro; przelejesz mi; zaplacic rachunek; wyslesz mi; potrzebuje 1*/2*/3*/5*; oddam jutro; zwroce;
    przelac mi; dasz rade przelac; pozyczyc; przysluge; moja karta nie dziala; zaplacic za mnie; zamowic cos dla mnie;
    kupic cos dla mnie`,
  urgent: `pilny; pilne; pilnie; natychmiast; dzis; dzisiaj; teraz; jak najszybciej; ostateczne wezwanie;
    ostatnie przypomnienie/ostrzezenie/wezwanie; niezwlocznie; szybko; od razu; jak tylko; uwaga; wazne; bezzwlocznie;
    jeszcze dzis; ostatnia szansa; ostrzezenie; alert`,
  deadline: `w ciagu 24/48; ciagu 24; 24 godzin; 48 godzin; dwa dni; wygasa dzis; do konca dnia; do jutra; ciagu; dzis wygasa;
    termin; masz dwa; do dzis; 48h; 24h; tylko dzis; do polnocy; uplywa`,
  threat: `w przeciwnym razie; inaczej; albo; aby uniknac; komornik; zostanie zablokowan*; zostanie wylaczon*; wroci do nadawcy;
    zatrzymany; odlaczenie; wygasnie; utrata; zostaniesz; zajmie; sad; dodatkowej oplaty; grozi; unikniesz; zostanie zawieszon*;
    windykac*; zostanie zwrocon*; blokad*; skutkowac; zablokowane; kara; usuniet*; oznacza`,
  secrecy: `miedzy nami; nikomu; nie mow; poufne; poufna; poufn*; tajemnic*; w tajemnicy; dyskret*; nie mowic; nic nie mow;
    niespodziank*; sekret*; z nikim`,
  account: `konto; konta; karta; karty; bank; bankowosc; bankowosci; dostep; subskrypcja; aplikacja; rachunek bankowy; profil;
    apple id; banku; twojego konta; rachunku`,
  blocked: `zablokowan*; zawieszon*; ograniczon*; wygasa; wygasl*; wygasnie; dezaktywowan*; zablokujemy; wstrzyman*; blokada;
    czasowo; tymczasowo; zamkniet*; odrzucon*; nieudan*; zostalo zablokowane; wylaczon*; niewazn*`,
  unusual: `podejrzanej aktywnosci; podejrzana aktywnosc; podejrzan*; nowe urzadzenie; jesli to nie ty; nieautoryzowan*;
    nietypowa; nietypow*; zostalo dodane; nowa dyrektyw*; nowa dyrektywa; dyrektywa; zgodnie z nowa; proba logowania;
    nieznane urzadzenie; obciazenie; transakcj*; jesli nie ty; wykrylismy; logowani*; zaufany odbiorca; bezpieczenstwa; proba;
    nowym urzadzeniu; przelew na kwote; wykryto; nieznanego urzadzenia; logowanie z; logowanie; zabezpiecz; proba; potwierdz ze;
    nieznane; odnotowalismy; autoryzacja; zlozono; zmiana numeru; nowy przelew; zdefiniowano; jesli nie zlecal*; zlecono;
    przelew do`,
  parcel: `paczka; paczki; paczke; przesylka; przesylke; przesylki; kurier; dostaw*; clo; cla; celny; magazyn*; zamowienie;
    doreczen*; paczkomat*; nadawc*; poczta; sortowni`,
  held_parcel: `nie zostala doreczona; nie mogla; wstrzyman*; clo; cla; oplata celna; adres jest niepelny; niepelny adres;
    bledny adres; wroci do nadawcy; oczekuje na; brakuje; doplata; doplac; zwolnienie; nieoplacon*; niedoreczon*; zatrzyman*;
    nie doreczono; oplaty; oplate; niedoplata; dezynfek*; ponown*; nadwag*; numer domu; zaktualizuj; nieprawidlowy adres;
    zwrocon*; nieudana proba; doplaty; celn*; nie udalo sie; zostala wstrzymana; wagi; nie udalo sie; ponowna dostawe; ponowna;
    doreczyc; opozni*; nieudana dostawa; doplata za; przekierow*`,
  fee: `oplata; oplate; oplaty; clo; cla; prowizja; koszty; oplata manipulacyjna; oplate manipulacyjna; doplat*`,
  relation: `mamo; tato; babciu; dziadku; to ja; twoj syn; twoja corka; mama; tata; ciociu; czesc mamo; wnuczek; wnuk; wnuczka;
    wujku; synek; corka; mamus*; tatus*`,
  new_number: `nowy numer; moj nowy; zapisz ten numer; innego numeru; tymczasowy numer; usun stary; z nowego numeru;
    zapisz sobie; zastepcz*; nowego numeru; inny numer; to moj nowy; w naprawie; numer kolegi; z tego numeru; zastepczy telefon;
    nowym numerem`,
  phone_broken: `zepsul mi sie telefon; telefon mi; zepsuty telefon; telefon sie zepsul; wpadla mi do wody; wpadl do wody;
    zgubilem telefon; zgubilam telefon; do wody; ukradli; rozbil mi sie; komorka; popsul; zepsul; rozwalil; stlukl;
    padl mi telefon; zbil; zgubil*; telefon wpadl; skradziono`,
  new_phone: `nowy telefon; nowego telefonu; nowa komorka; nowej komorki; nowa karta sim`,
  trouble: `wypadek; kaucje; kaucja; policja; prawnik; aresztowan*; nagly wypadek; adwokat; komisariat*; wiezien*`,
  boss: `prezes; dyrektor; szef; szefowa; kierownik; ceo; zarzad; dyrektorka; wlasciciel; proboszcz; prezesa; dyrekcj*`,
  unavailable: `na spotkaniu; nie moge rozmawiac; nie moge odbierac; jestes woln*; czy jestes dostepn*; przysluge; zadanie;
    konferencj*; mam zadanie; jest pan; jest pani`,
  virus: `wirus*; zainfekowan*; trojan; malware; haker*; hakera; zhakowan*; wlaman*; zlosliw*; szkodliw*; szpieg*; zagrozen*;
    zagrozon*; podejrzane pliki; atak; naruszen*; alert bezpieczenstwa; wykryto wirus*`,
  technician: `technik*; pomoc techniczn*; pomocy technicznej; dzial techniczny; wsparcie; microsoft; windows; licencja wygasla;
    biuro obslugi; dzial bezpieczenstwa; obslugi klienta; serwis; konsultant*; departament*; specjalist*`,
  renewed: `odnowion*; pobrano; zostanie pobran*; obciazon*; subskrypcja; zakup; oplata za; przedluzon*; odnowi; prenumerat*;
    pobran*; abonament; zostanie pobrane; pobierzemy; faktura; twoj zakup; obciazymy; zostana pobrane`,
  not_authorised: `jesli to nie ty; nie autoryz*; aby anulowac; anuluj; anulowac; nie potwierdzal*; zrezygnowac; rezygnacj*;
    jesli nie; wycofac; nie zamawia*`,
  refund: `zwrot; zwrotu; zwrot podatku; przysluguje; pobrany podwojnie; dodatek; odszkodowani*; rekompensat*; nadplata;
    nadplate; otrzymac zwrot; swiadczeni*; doplata do; bon energetyczny; wyplat*; srodki; zasilek; do odebrania; dofinansowan*;
    zapomog*; do odbioru; swiadczenie; dofinansowanie; nalezy sie; srodki do; wyrownanie; bon; nadplata; zaplacono za duzo;
    naliczono za duzo`,
  overpaid: `za duzo; przez pomylke; omylkowo; pomylkowo; nadplac*; blednie`,
  give_back: `odeslac; roznice; zwrocic; oddac; zwrot roznicy; odeslij; zwroc`,
  fine: `mandat*; kara; kare; dlug; zadluzenie; wezwanie; komornik; niezaplacon*; zaleglosc; nakaz aresztowania; windykacj*;
    oplata drogowa; doplata za prad; grzywn*; wykroczen*; przekroczenie predkosci; niedoplat*; naleznosc; zalegl*; viatoll; etoll;
    odlaczen*; oplat* karn*; fotoradar`,
  law: `komornik*; sad; aresztowan*; policja; zatrzyman*; prokurator*; windykac*; egzekucj*; wiezienie; zajmie; nakaz; adwokat;
    odlaczenie; sadow*; krd; bik; postepowan*; interpol; europol; kara; cbsp`,
  job: `praca; prace; pracy; oferta; stanowisko; zadania; cv; szkolenie; zdalna; konto robocze; wyplata; hr; rekrut*; menedzer*;
    etat; agencja; zlecenie; dorywcz*; pracownik*; stanowiska; zatrudn*`,
  easy_money: `zarabiaj; zarob; dziennie; z domu; bez doswiadczenia; codziennie; prowizja; prowizje; proste zadania;
    latwe pieniadze; za godzine; godzin dziennie; odbierz; zarobek; zarobki; dorob; tygodniowo; dodatkow*; polub;
    oceniaj produkty; oceniaj hotele; oceniaj; wystarczy telefon; latwe zadania; za zadanie; opinie; zarabiaj 1*`,
  income: `dodatkowy dochod; dodatkowe pieniadze; dochod pasywny; zarabiaj; zarabianie; zarob; zarobisz; latwe pieniadze;
    wyplata codziennie; zarobek od; dorobic; dodatkowy zarobek; szybkie pieniadze`,
  advance_fee: `przed rozpoczeciem; za szkolenie; aby aktywowac; najpierw wplacic; wplacic; wyplacic; aby wyplacic;
    oplata rejestracyjna; odblokowac; najpierw; aktywowac; pierwsza wyplata; wpisowe; zaliczk*; wplata; doladowac; rejestracj*;
    kaucja za; sprzet`,
  affection: `kochanie; kocham cie; moje serce; skarbie; moja milosc; moja krolowo; przytule; tesknie; do ciebie; pomylka;
    pomylilem; bratnia dusza; kochana; kochany; przytulic; spotkac; aniele; milosci; zakochal*; najdrozsz*; zly numer`,
  stuck: `utknal*; na cle; platformie wiertniczej; wojskow*; chirurg*; zolnierz*; armia; syrii; karta jest zablokowana; na lot;
    lot; do ciebie przyjechac; spadek; misj*; kontrakt; walizk*; bilet; wiza; zablokowan*; lekarz*; inzynier*; za granica; bagaz*;
    w podrozy; ukradzion*; portfel; hotel; skonfiskowan*; walizk*; paszport; lotnisk*; naglej; bez pieniedzy; okradzion*`,
  investment: `inwestowac; inwestycj*; trading*; krypto*; gielda; gieldzie; bitcoin*; forex; broker*; zainwestuj;
    grupy tradingowej; inwestuj`,
  sure_profit: `gwarantowan*; bez ryzyka; podwoi*; podwoj*; zysk*; stopa zwrotu; pomnoz*; wolnosc finansow*`,
  dwelling: `mieszkanie; mieszkania; pokoj; dom; kawalerk*; wynajem; wynajac; apartament; czynsz; lokal; nieruchomosc; studio;
    wynajm*; najem; kwater*`,
  cannot_show: `za granica; nie moge pokazac; wysle klucze; otrzyma pan klucze; przez airbnb; sluzbowo; poza polska;
    nie moge osobiscie; wyjechal*; w anglii; w niemczech; w delegacji; klucze kurierem; klucze przez; po wplacie; po przelewie;
    bez ogladania; ogladanie po; klucze wysle`,
  deposit: `kaucje; kaucja; zaliczk*; z gory; zadatek; pierwszy czynsz; miesiace z gory; rezerwacj*; przelac; przedplat*; depozyt
`,
  scan: `zeskanuj; skanuj; kod qr; qr; skan; zeskanowac`,
  paid_place: `parkomat*; parkowanie; parking; stacja ladowania; ladowanie; biletomat; hulajnog*; ladowark*`,
  invoice: `faktur*; platnosc*; dostawc*; przelewy; rachunk*; naleznosc*; zaplate; prosimy placic; rozliczen*`,
  new_account: `numer konta ulegl; nowe konto; nowy iban; nowy numer konta; zmienilem bank; zmiana numeru; zmiana konta;
    stary jest zamkniety; zmienil sie numer; nowy rachunek; nowego konta; zmiana rachunku; ten nowy`,
  code: `kod; kodu; 6 cyfr; z 6 cyframi; kod weryfikacyjny; otp; kod sms; blik; szesciocyfrow*; kodem`,
  pass_on: `przeslac; przeslij; podyktowac; podyktuj; podaj kod; podaj mi; przez pomylke; odeslij; wyslij mi; przekaz; przeslesz;
    podasz; podac kod; przepisz; powiedz; prosze o kod; odeslesz; podac mi; prosze podac; wyslesz; podaj kod; odpowiedz kodem;
    kod z sms; kod ktory; podac kod; przeslij kod; kod otrzymany; przekazac kod; odpisz kod; dyktuj; wyslij mi kod; podaj mi kod;
    przeslij mi kod; kod ktory przyszedl; daj kod`,
  keep_code: `nikomu; nie podawaj; nie udostepniaj; nigdy; nie przekazuj; jesli to nie ty; zignoruj; nie dziel;
    nigdy nie prosimy; nie ujawniaj`,
  one_time_code: `kod z 6; szesciocyfrow*; kod weryfikacyjny; kod sms; kod ktory; kod, ktory; otp; kod autoryzac*; kod blik;
    kod bezpieczenstwa; kod z sms; kod whatsapp`,
  know_password: `znam twoje haslo; znam haslo; twoje haslo; wlamalem sie; wlamal*; pelny dostep; dostep do twoich; zainfekowal*;
    zainstalowal*; jestem hakerem; twoich urzadzen; twojego urzadzenia; mam dostep; twoje urzadzenie; zhakowal*; przejalem;
    przejal*`,
  recorded: `kamer*; nagral*; nagranie; intymn*; stronach dla doroslych; porno*; film z toba; masturb*; nag*; nagrania;
    kompromituj*; webcam; zdjecia intymne; wideo; film`,
  publish: `kontakt*; do wszystkich; rodzin*; znajom*; opublikuj*; zobacza; zobaczy; wysle film; wspolpracown*; udostepni*;
    przyjacio*; upubliczn*; rozesle; wszyscy; trafi; przeslij`,
  won: `wygral*; zwyciezc*; gratulacje; gratulujemy; wybran*; loteri*; losowani*; nagrod*; czeka na ciebie; zarezerwowan*;
    ankiet*; szczesliw*; wylosowan*; zostales wybrany; wygrana; laureat*; konkurs*; prezent; zwyciezy*; odwiedzajacy*; 1 000 000;
    szczesliw*; odbierz samsunga; ekskluzywn*; prezent; samsung*; iphone; gratis`,
  claim: `odbierz; odebrac; potwierdz dostawe; otrzymac; prosze o kontakt; oplate; wysylke; wysylka; zglos sie; wyplac*;
    aby odebrac; dostawe; przesylk*; uzyskaj; zrealizuj; pokryj; przejdz; skorzystaj; otrzymasz`,
  costs: `za sms; zl sms; koszt sms; za wiadomosc`,
  advertised: `gratis; darmow*; wygraj; nagroda; czat`,
  opt_out: `wyslij stop; rezygnacja; wypisz`,
};
